import { readFileSync } from 'node:fs'
import { codecOf, parseJson } from '@ledger-state/bcs'
import { ByteReader, bytesToHex, hexToBytes, isLedgerStateError, parseAddress } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import { openSource } from '@ledger-state/feed'
import {
  type FunctionDefinition,
  type GetModule,
  layoutOf,
  type MoveModule,
  readModule,
  readModuleInterface,
  substitute,
} from '@ledger-state/move-module'
import { sharedPath } from '@ledger-state/testing/shared-data'
import { moduleKey, parseTypeTag, readName, readTypeTag, type TypeTag } from '@ledger-state/type-tag'
import type { ViewCall, ViewOptions, ViewOutcome, ViewState, Vm } from '../src/index.js'
import { toPooledBuffer } from './byte-forms.js'
import { SlowState } from './test-state.js'

// Runs the requests of the kits in ../../../shared/conformance on a vm, without HTTP. The node's work around the vm is
// done here in the shortest way, and only the vm's part of an answer is compared.

/** A request of a kit. */
export interface KitRequest {
  readonly id: string
  readonly area: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body_text?: string
  readonly body_hex?: string
  readonly expect: {
    readonly status: number
    readonly vm_error_code?: number | 'any'
    readonly message?: string
    readonly message_starts?: string
    readonly json_text?: string
    readonly body_hex?: string
  }
}

interface KitSource {
  readonly area: string
  readonly serve: string
}

/** A kit: its requests, and the feed and settings that they are about. */
export interface Kit {
  readonly sources: readonly KitSource[]
  readonly requests: readonly KitRequest[]
}

export function readKit(name: string): Kit {
  return JSON.parse(readFileSync(sharedPath(`conformance/${name}.json`), 'utf8')) as Kit
}

/** A state that has all values loaded. */
export interface MemoryState extends ViewState {
  read(key: Uint8Array): Uint8Array | undefined
}

/** All versions of a feed, in memory. Values are parts of Buffers, like values of LMDB. */
export class MemoryLedger {
  readonly #values = new Map<string, { readonly version: bigint; readonly value: Uint8Array | null }[]>()
  readonly #modules = new Map<string, MoveModule>()
  latest = 0n

  static async load(serve: string): Promise<MemoryLedger> {
    const ledger = new MemoryLedger()
    const source = await openSource(sharedPath(serve.replace(/^shared\//, '')))
    try {
      for await (const { version, writes } of source.versions()) {
        ledger.latest = version
        for (const [key, value] of writes) {
          const name = bytesToHexDigits(key)
          const history = ledger.#values.get(name) ?? []
          history.push({ version, value: value && toPooledBuffer(value) })
          ledger.#values.set(name, history)
        }
      }
    } finally {
      await source.close()
    }
    return ledger
  }

  at(version: bigint): MemoryState {
    return {
      read: (key) => {
        const history = this.#values.get(bytesToHexDigits(key))
        return history?.findLast((one) => one.version <= version)?.value ?? undefined
      },
    }
  }

  /** Keys that have a value at the version. */
  *keys(version: bigint): Iterable<Uint8Array> {
    for (const [name, history] of this.#values) {
      if (history.findLast((one) => one.version <= version)?.value) yield hexToBytes(name)
    }
  }

  getModule(version: bigint): GetModule {
    const state = this.at(version)
    return ({ address, name }) => {
      const bytes = state.read(moduleKey(address, name))
      if (!bytes) return undefined
      const key = bytesToHexDigits(moduleKey(address, name)) + bytes.length
      const known = this.#modules.get(key)
      if (known) return known
      const module = readModule(bytes)
      this.#modules.set(key, module)
      return module
    }
  }
}

/** Answer to a request of a kit, as far as the kit compares it. */
export interface KitAnswer {
  readonly status: number
  readonly code?: number | undefined
  readonly message?: string
  readonly text?: string
  readonly hex?: string
  readonly outcome?: ViewOutcome
}

/** Answers a request; undefined if the vm is not who answers it. */
export function answerRequest(
  vm: Vm,
  ledger: MemoryLedger,
  request: KitRequest,
  wrap: (state: ViewState) => ViewState = (state) => state,
): KitAnswer | undefined {
  const asked = /ledger_version=(\d+)$/.exec(request.path)
  const version = asked ? BigInt(asked[1]!) : ledger.latest
  if (version > ledger.latest) return undefined
  let call: ViewCall
  try {
    const read = request.body_hex
      ? readBinaryCall(hexToBytes(request.body_hex))
      : readJsonCall(request.body_text ?? '', ledger, version)
    if (!read) return undefined
    call = read
  } catch (error) {
    if (isLedgerStateError(error) || error instanceof SyntaxError) return undefined
    throw error
  }
  const given = { ...call, arguments: call.arguments.map(toPooledBuffer) }
  const outcome = runView(vm, wrap(ledger.at(version)), given)
  if (outcome.kind === 'fault') {
    return { status: 400, code: outcome.fault.code, message: outcome.fault.message, outcome }
  }
  const isBinary = request.headers.accept === 'application/x-bcs'
  if (isBinary) {
    const body = outcome.results.map(({ bytes }) => bytesToHex(bytes).slice(2)).join('')
    return { status: 200, hex: `0x${outcome.results.length.toString(16).padStart(2, '0')}${body}`, outcome }
  }
  const getModule = ledger.getModule(version)
  try {
    const items = outcome.results.map(({ type, bytes }) => codecOf(layoutOf(type, getModule)).bytesToJson(bytes))
    return { status: 200, text: `[${items.join()}]`, outcome }
  } catch (error) {
    if (isLedgerStateError(error)) return { status: 400, message: error.message, outcome }
    throw error
  }
}

/** Runs a view in turns. */
export function runView(vm: Vm, state: ViewState, call: ViewCall, options: ViewOptions = {}): ViewOutcome {
  const run = vm.startView(state, call, options)
  for (;;) {
    const progress = run.advance(10_000)
    if (progress.kind === 'results' || progress.kind === 'fault') return progress
    if (progress.kind === 'lacking' && state instanceof SlowState) state.load(progress.keys)
    else if (progress.kind !== 'paused') throw new Error(`the view stopped: ${progress.kind}`)
  }
}

function readBinaryCall(bytes: Uint8Array): ViewCall | undefined {
  const reader = new ByteReader(bytes)
  const address = reader.readBytes(32)
  const module = readName(reader)
  const name = readName(reader)
  const typeArguments: TypeTag[] = []
  for (let count = reader.readLength(); count > 0; count--) typeArguments.push(readTypeTag(reader))
  const args: Uint8Array[] = []
  for (let count = reader.readLength(); count > 0; count--) args.push(reader.readByteString())
  if (reader.remaining > 0) return undefined
  return { address, module, function: name, typeArguments, arguments: args }
}

interface JsonCall {
  readonly function: string
  readonly type_arguments: readonly string[]
  readonly arguments: readonly unknown[]
}

function readJsonCall(text: string, ledger: MemoryLedger, version: bigint): ViewCall | undefined {
  const body = JSON.parse(text) as JsonCall | null
  if (typeof body?.function !== 'string' || !Array.isArray(body.type_arguments) || !Array.isArray(body.arguments)) {
    return undefined
  }
  const [address, module, name] = body.function.split('::')
  if (!address || !module || !name) return undefined
  const bytes = ledger.at(version).read(moduleKey(parseAddress(address), module))
  const definition = bytes && readModuleInterface(bytes).functions.find((one) => one.name === name)
  if (!definition || definition.typeParameters.length !== body.type_arguments.length) return undefined
  const typeArguments = body.type_arguments.map((one) => parseTypeTag(one))
  const types = parameterTypes(definition, typeArguments)
  if (!types || types.length !== body.arguments.length) return undefined
  const getModule = ledger.getModule(version)
  // `parseJson` keeps all digits of numbers.
  const items = (parseJson(text) as unknown as { get(name: string): unknown }).get('arguments') as readonly never[]
  const args = types.map((type, at) => codecOf(layoutOf(type, getModule)).jsonToBytes(items[at]!))
  return { address: parseAddress(address), module, function: name, typeArguments, arguments: args }
}

function parameterTypes(
  { parameters }: FunctionDefinition,
  typeArguments: readonly TypeTag[],
): readonly TypeTag[] | undefined {
  const given = parameters.filter(({ kind }) => kind !== 'signer')
  const tags = given.map((token) => substitute(token, typeArguments))
  return tags.every((tag) => tag !== undefined) ? tags : undefined
}

/** Reason why an answer differs from the kit's expectation; undefined if it does not. */
export function findDifference({ expect }: KitRequest, answer: KitAnswer): string | undefined {
  if (answer.status !== expect.status) return `status ${answer.status}: ${answer.code} ${answer.message}`
  if (typeof expect.vm_error_code === 'number' && answer.code !== expect.vm_error_code) {
    return `code ${answer.code} for ${expect.vm_error_code}: ${answer.message}`
  }
  if (expect.message !== undefined && answer.message !== expect.message) return `message ${answer.message}`
  if (expect.message_starts !== undefined && !answer.message?.startsWith(expect.message_starts)) {
    return `message ${answer.message}`
  }
  if (expect.json_text !== undefined && answer.text !== expect.json_text) return `text ${answer.text}`
  if (expect.body_hex !== undefined && answer.hex !== expect.body_hex) return `body ${answer.hex}`
  return undefined
}
