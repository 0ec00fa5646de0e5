import type { Resource } from '../api/answers.ts'
import { type ApiRequest, ask, type Result } from '../api/client.ts'
import type { Failure } from '../api/failure.ts'

/** The publisher's metadata of a module's package. */
export interface ModulePackage {
  readonly name: string
  /** Rule for publishing the package again, in words. */
  readonly upgradePolicy: string
  /** Number of times that the package was published again. */
  readonly upgradeNumber: string
  readonly dependencies: readonly { readonly address: string; readonly name: string }[]
  /** Source of the module as gzip in hex; undefined if it was published without source. */
  readonly packedSource: string | undefined
}

/** The resource of type `0x1::code::PackageRegistry`, as JSON. */
interface PackageRegistry {
  readonly packages: readonly {
    readonly name: string
    readonly upgrade_policy: { readonly policy: number }
    readonly upgrade_number: string
    readonly modules: readonly { readonly name: string; readonly source: string }[]
    readonly deps: readonly { readonly account: string; readonly package_name: string }[]
  }[]
}

const POLICIES: Readonly<Record<number, string>> = {
  0: 'arbitrary: any change may be published',
  1: 'compatible: changes that keep stored values and callers working',
  2: 'immutable: it never changes',
}
/**
 * Longest source that is unpacked. Sources of the framework have up to 250 kB; a longer one may be made to fill memory.
 */
const MOST_SOURCE_BYTES = 4 * 2 ** 20
const NO_SOURCE = /^(?:0x)?$/

/** The request for the packages of an account. */
function registryRequest(address: string, at: string | undefined): ApiRequest {
  return { path: `/accounts/${encodeURIComponent(address)}/resource/0x1::code::PackageRegistry`, at }
}

/** The package of a module; undefined if its account has no registry, or the registry does not have the module. */
export async function loadPackage(
  address: string,
  module: string,
  at: string | undefined,
  signal: AbortSignal,
): Promise<Result<ModulePackage> | undefined> {
  const result = await ask<Resource>(registryRequest(address, at), signal)
  if ('failure' in result) return result.failure.kind === 'absent' ? undefined : result
  const found = findPackage(result.value.data as unknown as PackageRegistry, module)
  return found && { value: found, answer: result.answer }
}

/** The package that lists a module, in words for people. */
export function findPackage({ packages }: PackageRegistry, module: string): ModulePackage | undefined {
  for (const { name, upgrade_policy: policy, upgrade_number: upgradeNumber, modules, deps } of packages) {
    const listed = modules.find((one) => one.name === module)
    if (!listed) continue
    return {
      name,
      upgradePolicy: POLICIES[policy.policy] ?? `unknown policy ${policy.policy}`,
      upgradeNumber,
      dependencies: deps.map(({ account, package_name: of }) => ({ address: account, name: of })),
      packedSource: NO_SOURCE.test(listed.source) ? undefined : listed.source,
    }
  }
  return undefined
}

/** The text of a packed source, or the reason why there is none. */
export async function unpackSource(packed: string): Promise<{ readonly text: string } | { readonly failure: Failure }> {
  const failed = (message: string) => ({ failure: { kind: 'failed', message } as const })
  const bytes = hexToBytes(packed)
  if (!bytes) return failed('the stored source is not hex')
  try {
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')).getReader()
    const decoder = new TextDecoder()
    let text = ''
    let length = 0
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      length += read.value.length
      if (length > MOST_SOURCE_BYTES) {
        await reader.cancel()
        return failed(`the stored source has more than ${MOST_SOURCE_BYTES / 2 ** 20} MiB`)
      }
      text += decoder.decode(read.value, { stream: true })
    }
    return { text: text + decoder.decode() }
  } catch {
    return failed('the stored source is not gzip, or is damaged')
  }
}

function hexToBytes(hex: string): Uint8Array<ArrayBuffer> | undefined {
  const digits = hex.replace(/^0x/, '')
  if (!/^(?:[0-9a-f]{2})*$/i.test(digits)) return undefined
  return Uint8Array.from({ length: digits.length / 2 }, (_, at) =>
    Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16),
  )
}
