import { parseJson } from '@ledger-state/bcs'
import { ByteWriter, bytesToHex, hexToBytes, parseAddress } from '@ledger-state/core'
import { createLedger, type LedgerState, parseAsset } from '@ledger-state/ledger'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { parseTypeTag } from '@ledger-state/type-tag'
import { type Command, type CommandInput, parseOption, parseOptionalVersion } from '../command-line.js'
import { dataDirOption } from '../shared-options.js'

const readOptions = {
  ...dataDirOption,
  version: { value: 'VERSION', description: 'ledger version to read at (default the latest)' },
}
const bcsOption = { bcs: { description: 'print the stored bytes in hex' } }
const handleArgument = { name: 'HANDLE', description: 'table handle, 0x…' }

export const getTableItemCommand: Command = {
  name: 'get table-item',
  summary: 'Prints a table item, found by its typed key, as JSON.',
  arguments: [handleArgument],
  options: {
    'key-type': { value: 'TYPE', description: 'type of the key', required: true },
    'value-type': { value: 'TYPE', description: 'type of the value', required: true },
    key: { value: 'JSON', description: 'the key, such as \'"42"\' for a u64', required: true },
    ...bcsOption,
    ...readOptions,
  },
  examples: [`ledger-state get table-item 0x7ab1e --key-type u64 --value-type u64 --key '"1"' --data-dir data/demo`],
  async run(input) {
    const handle = parseOption('HANDLE', input.argument('HANDLE'), parseAddress)
    const keyType = parseOption('--key-type', input.required('key-type'), parseTypeTag)
    const valueType = parseOption('--value-type', input.required('value-type'), parseTypeTag)
    const key = parseOption('--key is no JSON (texts need quotes)', input.required('key'), parseJson)
    await read(input, (state) => {
      const item = state.readTableItem({ handle, keyType, valueType, key })
      return input.flag('bcs') ? bytesToHex(item.bytes) : item.toJson()
    })
  },
}

export const getRawItemCommand: Command = {
  name: 'get raw-item',
  summary: 'Prints a table item, found by its serialized key, in hex.',
  arguments: [handleArgument, { name: 'KEY', description: 'BCS bytes of the key in hex' }],
  options: { ...bcsOption, ...readOptions },
  examples: ['ledger-state get raw-item 0x7ab1e 0x0100000000000000 --data-dir data/demo'],
  async run(input) {
    const handle = parseOption('HANDLE', input.argument('HANDLE'), parseAddress)
    const key = parseOption('KEY', input.argument('KEY'), hexToBytes)
    await read(input, (state) => bytesToHex(state.readRawTableItem(handle, key)))
  },
}

export const getBalanceCommand: Command = {
  name: 'get balance',
  summary: 'Prints what an account holds of a coin or fungible asset.',
  arguments: [
    { name: 'ADDRESS', description: 'the account, with or without 0x' },
    { name: 'ASSET', description: 'a coin type, or the address of a fungible asset' },
  ],
  options: { ...bcsOption, ...readOptions },
  examples: ['ledger-state get balance 0xa11ce 0x1::aptos_coin::AptosCoin --data-dir data/demo'],
  async run(input) {
    const owner = parseOption('ADDRESS', input.argument('ADDRESS'), parseAddress)
    const asset = parseOption('ASSET', input.argument('ASSET'), parseAsset)
    await read(input, (state) => {
      const balance = state.readBalance(owner, asset)
      return input.flag('bcs') ? bytesToHex(new ByteWriter().u64(balance).toBytes()) : String(balance)
    })
  },
}

async function read(input: CommandInput, print: (state: LedgerState) => string): Promise<void> {
  const version = parseOptionalVersion(input, 'version')
  const engine = openStateEngineReader({ path: input.required('data-dir') })
  try {
    process.stdout.write(`${print(createLedger(engine).at(version))}\n`)
  } finally {
    await engine.close()
  }
}
