import type { ModuleAnswer } from '../api/answers.ts'
import { ask } from '../api/client.ts'

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

const MOST_MODULES = 200

/**
 * The modules of an account, from the first page of their list.
 * @throws only if it was aborted
 */
export async function loadModules(
  address: string,
  { at }: { readonly at: string | undefined },
  signal: AbortSignal,
): Promise<readonly NamedModule[]> {
  const path = `/accounts/${encodeURIComponent(address)}/modules?limit=${MOST_MODULES}`
  const result = await ask<readonly ModuleAnswer[]>({ path, at }, signal)
  return 'value' in result ? result.value.flatMap((one) => toNamedModule(address, one) ?? []) : []
}

/** Undefined if the module has no ABI, because its bytes cannot be read. */
export function toNamedModule(address: string, { abi }: ModuleAnswer): NamedModule | undefined {
  if (!abi) return undefined
  const functions = abi.exposed_functions.map(({ name, is_view }) => ({ name, isView: is_view }))
  return { address, name: abi.name, functions }
}
