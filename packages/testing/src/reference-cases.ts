import { readFileSync } from 'node:fs'
import { hasSharedData, sharedPath } from './shared-data.ts'

/** A case of `../shared/cases/reference-cases.json`: what full nodes answer, or what we answer where that differs. */
export interface ReferenceCase {
  readonly id: string
  readonly area: string
  // biome-ignore lint/suspicious/noExplicitAny: each area has members of its own
  readonly input: any
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly expect: any
}

/** The cases of an area; none if the shared folder is absent. */
export function referenceCases(area: string): ReferenceCase[] {
  if (!hasSharedData) return []
  const cases = JSON.parse(readFileSync(sharedPath('cases/reference-cases.json'), 'utf8')) as ReferenceCase[]
  return cases.filter((one) => one.area === area)
}
