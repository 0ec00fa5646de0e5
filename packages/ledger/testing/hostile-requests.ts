import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@ledger-state/bcs'
import { isLedgerStateError, parseAddress } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { ABILITY, type FieldDefinition, type SignatureToken, writeModule } from '@ledger-state/move-module'
import { createRandom, type Random } from '@ledger-state/testing/random'
import { moduleKey, tableItemKey } from '@ledger-state/type-tag'
import { createLedger, type Ledger, readTableItem } from '../src/index.ts'

// Sends hostile questions to a ledger, in a process with a heap limited by a test. Arguments: the kind of question, the
// number of questions, the seed.

const FRAMEWORK = parseAddress('0x1')
const HANDLE = parseAddress('0x7ab1e')

const REQUESTS: Readonly<Record<string, (ledger: Ledger, count: number, random: Random) => void>> = {
  /** Types that resolve: trees of 7 KB, each different. */
  maps(ledger, count, random) {
    for (let at = 0; at < count; at++) readItems(ledger, requestBody([mapTree(random, 7)]))
  },
  /** Batches of types that resolve. */
  batches(ledger, count, random) {
    for (let at = 0; at < count; at++) {
      readItems(ledger, requestBody(Array.from({ length: 1_000 }, () => mapTree(random, 7))))
    }
  },
  /** Types of 64 KB that no module defines. */
  unknown(ledger, count, random) {
    for (let at = 0; at < count; at++) {
      const argument = `0x${random.below(2 ** 30).toString(16)}::a::b`
      const names = Array.from({ length: Math.floor(65_000 / (argument.length + 1)) }, () => argument)
      readItems(ledger, requestBody([`0x1::a::b<${names.join()}>`]))
    }
  },
}

function mapTree(random: Random, depth: number): string {
  if (depth === 0) return random.pick(['0x1::string::String', 'vector<0x1::string::String>', 'vector<address>', 'u64'])
  return `0x1::simple_map::SimpleMap<${mapTree(random, depth - 1)}, ${mapTree(random, depth - 1)}>`
}

/** A body as a server has it: each text is a slice of the body's. */
function requestBody(types: readonly string[]): JsonValue {
  return parseJson(JSON.stringify(types.map((type) => ({ key_type: 'u8', value_type: type, wrong_key_type: type }))))
}

function readItems(ledger: Ledger, body: JsonValue): void {
  for (const request of body as JsonObject[]) {
    if (!isJsonObject(request)) throw new Error('a request is an object')
    const typeOf = (name: string) => ledger.parseType(String(request.get(name)))
    const valueType = typeOf('value_type')
    const key = parseJson('1')
    // The stored byte does not fit the type, nor does the number as a key. Both codecs are compiled to find that out.
    refused('value_type_mismatch', () =>
      readTableItem(ledger.at(), { handle: HANDLE, keyType: typeOf('key_type'), valueType, key }).toJson(),
    )
    refused('invalid_value', () =>
      readTableItem(ledger.at(), { handle: HANDLE, keyType: typeOf('wrong_key_type'), valueType, key }),
    )
  }
}

function refused(code: string, read: () => unknown): void {
  try {
    read()
  } catch (error) {
    if (isLedgerStateError(error, code)) return
    throw error
  }
  throw new Error(`a hostile request was answered where ${code} was expected`)
}

async function createFilledLedger(): Promise<Ledger> {
  const parameter = (index: number): SignatureToken => ({ kind: 'typeParameter', index })
  const module = (name: string, structs: Readonly<Record<string, readonly FieldDefinition[]>>, parameters: number) =>
    writeModule({
      version: 7,
      address: FRAMEWORK,
      name,
      structs: Object.entries(structs).map(([struct, fields]) => ({
        kind: 'struct',
        name: struct,
        abilities: ABILITY.store,
        typeParameters: Array.from({ length: parameters }, () => ({ constraints: 0, phantom: false })),
        fields,
      })),
    })
  const element: SignatureToken = {
    kind: 'struct',
    module: { address: FRAMEWORK, name: 'simple_map' },
    name: 'Element',
    typeArguments: [parameter(0), parameter(1)],
  }
  const simpleMap = module(
    'simple_map',
    {
      SimpleMap: [{ name: 'data', type: { kind: 'vector', element } }],
      Element: [
        { name: 'key', type: parameter(0) },
        { name: 'value', type: parameter(1) },
      ],
    },
    2,
  )
  const string = module('string', { String: [{ name: 'bytes', type: { kind: 'vector', element: { kind: 'u8' } } }] }, 0)
  const engine = createMemoryEngine()
  const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
  const writes = [
    [moduleKey(FRAMEWORK, 'simple_map'), simpleMap],
    [moduleKey(FRAMEWORK, 'string'), string],
    [tableItemKey(HANDLE, Uint8Array.of(1)), Uint8Array.of(0xff)],
  ] as const
  await engine.commit([{ version: 0n, block, writes }], { chainId: 4 })
  return createLedger(engine)
}

const [kind, count, seed] = process.argv.slice(2)
REQUESTS[kind!]!(await createFilledLedger(), Number(count), createRandom(Number(seed)))
