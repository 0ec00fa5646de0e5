import { readFileSync } from 'node:fs'
import { hasSharedData, sharedPath } from './shared-data.ts'

/** A case of `../shared/cases/reference-cases.json`: the answer of full nodes, or our answer if it differs. */
export interface ReferenceCase {
  readonly id: string
  readonly area: string
  // biome-ignore lint/suspicious/noExplicitAny: each area has other members
  readonly input: any
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly expect: any
}

/** Cases of an area; empty if the shared folder is absent. */
export function referenceCases(area: string): ReferenceCase[] {
  if (!hasSharedData) return []
  const cases = JSON.parse(readFileSync(sharedPath('cases/reference-cases.json'), 'utf8')) as ReferenceCase[]
  return cases.filter((one) => one.area === area)
}
