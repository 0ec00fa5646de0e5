import { addressToShortHex, ByteWriter, bytesToHex } from '@ledger-state/core'
import { isSigner, readScript, type SignatureToken, scriptAbi, substitute } from '@ledger-state/move-module'
import type {
  EntryFunction,
  Executable,
  Payload,
  Script,
  ScriptArgument,
  VersionedPayload,
} from '@ledger-state/proof/transactions'
import type { TypeTag } from '@ledger-state/type-tag'
import { moveTypeToText } from '../../resources/resource-type-text.js'
import { hexText, jsonList, orUndefined, type RenderContext, valueToJson } from './render-context.js'

/**
 * The payload of a user's transaction as JSON, with members in the order of the reference. Undefined for a payload that
 * the reference does not print.
 */
export function payloadToJson(context: RenderContext, payload: Payload): string | undefined {
  switch (payload.kind) {
    case 'script':
      return scriptToJson(context, payload)
    case 'entry_function':
      return entryFunctionToJson(context, payload)
    case 'multisig':
      return multisigToJson(context, payload.address, payload.called)
    case 'versioned':
      return versionedToJson(context, payload)
    default:
      return undefined
  }
}

function versionedToJson(context: RenderContext, { executable, extraConfig }: VersionedPayload): string | undefined {
  const { multisigAddress } = extraConfig
  if (!multisigAddress) return executableToJson(context, executable)
  if (executable.kind === 'script') return undefined
  return multisigToJson(context, multisigAddress, executable.kind === 'empty' ? undefined : executable)
}

function executableToJson(context: RenderContext, executable: Executable): string | undefined {
  if (executable.kind === 'empty') return undefined
  return executable.kind === 'script' ? scriptToJson(context, executable) : entryFunctionToJson(context, executable)
}

function multisigToJson(context: RenderContext, address: Uint8Array, called: EntryFunction | undefined): string {
  const payload = called ? entryFunctionToJson(context, called) : 'null'
  return `{"multisig_address":"${addressToShortHex(address)}","transaction_payload":${payload},"type":"multisig_payload"}`
}

/** Arguments are printed by the types of the parameters, or all as hex if that fails for any of them. */
function entryFunctionToJson(context: RenderContext, called: EntryFunction): string {
  const { address, module, name } = called
  const typeArguments = [...called.typeArguments]
  const bytes = [...called.arguments]
  const typed = orUndefined(() => {
    const found = context.interfaces.find(context.view, { address, name: module })
    const definition = found?.functions.find((one) => one.name === name)
    return definition && argumentsToJson(context, definition.parameters, typeArguments, bytes)
  })
  const text = JSON.stringify(`${addressToShortHex(address)}::${module}::${name}`)
  const values = typed ?? bytes.map(hexText)
  return `{"function":${text},"type_arguments":${typesToJson(typeArguments)},"arguments":${jsonList(values)},"type":"entry_function_payload"}`
}

function scriptToJson(context: RenderContext, script: Script): string {
  const typeArguments = [...script.typeArguments]
  const bytes = Array.from(script.arguments, argumentToBcs)
  const read = orUndefined(() => readScript(script.code))
  const abi = read && orUndefined(() => scriptAbi(read))
  const values = (read && argumentsToJson(context, read.parameters, typeArguments, bytes)) ?? bytes.map(hexText)
  const code = `{"bytecode":"${bytesToHex(script.code)}","abi":${JSON.stringify(abi ?? null)}}`
  return `{"code":${code},"type_arguments":${typesToJson(typeArguments)},"arguments":${jsonList(values)},"type":"script_payload"}`
}

/** Undefined if the count differs, or any argument does not decode. */
function argumentsToJson(
  context: RenderContext,
  parameters: readonly SignatureToken[],
  typeArguments: readonly TypeTag[],
  values: readonly Uint8Array[],
): readonly string[] | undefined {
  const expected = parameters.filter((token) => !isSigner(token) && token.kind !== 'function')
  if (expected.length !== values.length) return undefined
  const texts: string[] = []
  for (const [at, token] of expected.entries()) {
    const tag = substitute(token, typeArguments)
    const text = tag && valueToJson(context, tag, values[at]!)
    if (text === undefined) return undefined
    texts.push(text)
  }
  return texts
}

/** The BCS of an argument of a script. */
function argumentToBcs({ type, bytes }: ScriptArgument): Uint8Array {
  return type === 'vector<u8>' ? new ByteWriter().byteString(bytes).toBytes() : bytes
}

function typesToJson(tags: readonly TypeTag[]): string {
  return jsonList(tags.map((tag) => JSON.stringify(moveTypeToText(tag))))
}
