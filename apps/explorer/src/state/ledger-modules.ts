import type { ModuleAnswer } from '../api/answers.ts'
import { ask } from '../api/client.ts'
import type { Failure } from '../api/failure.ts'

export interface NamedFunction {
  readonly name: string
  readonly isView: boolean
}

/** A module with the functions that its ABI lists: public ones, views and entry functions. */
export interface NamedModule {
  readonly address: string
  readonly name: string
  readonly functions: readonly NamedFunction[]
}

/** Modules of a page, and pages of an account. */
const PAGE = 200
const MOST_PAGES = 10

/**
 * The modules of an account.
 * @throws only if it was aborted
 */
export async function loadModules(
  address: string,
  { at }: { readonly at: string | undefined },
  signal: AbortSignal,
): Promise<{ readonly items: readonly NamedModule[]; readonly isCut: boolean; readonly failure: Failure | undefined }> {
  const items: NamedModule[] = []
  let cursor: string | undefined
  let state = at
  for (let page = 0; page < MOST_PAGES; page++) {
    const start = cursor === undefined ? '' : `&start=${cursor}`
    const path = `/accounts/${encodeURIComponent(address)}/modules?limit=${PAGE}${start}`
    const result = await ask<readonly ModuleAnswer[]>({ path, at: state }, signal)
    if ('failure' in result) return { items, isCut: true, failure: result.failure }
    items.push(...result.value.flatMap((one) => toNamedModule(address, one) ?? []))
    cursor = result.answer.cursor
    state ??= result.answer.head?.version
    if (cursor === undefined) break
  }
  return { items, isCut: cursor !== undefined, failure: undefined }
}

/** Undefined if the module has no ABI, because its bytes cannot be read. */
export function toNamedModule(address: string, { abi }: ModuleAnswer): NamedModule | undefined {
  if (!abi) return undefined
  const functions = abi.exposed_functions.map(({ name, is_view }) => ({ name, isView: is_view }))
  return { address, name: abi.name, functions }
}
