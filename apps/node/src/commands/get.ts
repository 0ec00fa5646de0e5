import { ByteWriter, bytesToHex, hexToBytes, parseAddress } from '@ledger-state/core'
import {
  type LedgerState,
  parseAsset,
  readAccount,
  readAccountModule,
  readBalance,
  readRawTableItem,
  readResource,
  readTableItem,
} from '@ledger-state/ledger'
import { parseStructTag } from '@ledger-state/type-tag'
import type { Command, CommandInput } from '../config/command.js'
import { parseAs, switchOption } from '../config/option.js'
import { openLedger } from '../stores/ledger-reader.js'
import { storePlace } from '../stores/store-place.js'
import { writeNotice } from '../terminal/notice.js'
import { hintIfKnown, hintOfAsset, hintOfItem, hintOfModule, hintOfResource, namingAbsent } from './absent-names.js'
import { accountArgument, askedVersion, stateOptions } from './asked-state.js'
import { DEMO_ITEM, handleArgument, tableItemOptions, tableItemRequest } from './table-item-request.js'

const bcsOption = switchOption('bcs', 'print the stored bytes in hex')
export const getTableItemCommand: Command = {
  name: 'get table-item',
  summary: 'Prints a table item, found by its typed key, as JSON.',
  arguments: [handleArgument],
  options: [...tableItemOptions, bcsOption, ...stateOptions],
  required: tableItemOptions,
  examples: [`ledger-state get table-item ${DEMO_ITEM} --data-dir data/demo`],
  async run(input) {
    const request = tableItemRequest(input)
    await read(input, (state) => {
      return namingAbsent(
        () => {
          const item = readTableItem(state, request)
          return input.get(bcsOption) ? bytesToHex(item.bytes) : item.toJson()
        },
        () => hintOfItem(state, request),
      )
    })
  },
}

export const getRawItemCommand: Command = {
  name: 'get raw-item',
  summary: 'Prints a table item, found by its serialized key, in hex.',
  arguments: [handleArgument, { name: 'KEY', description: 'BCS bytes of the key in hex' }],
  options: [bcsOption, ...stateOptions],
  examples: ['ledger-state get raw-item 0x7ab1e3 0x01 --data-dir data/demo'],
  async run(input) {
    const handle = parseAs('HANDLE', input.argument('HANDLE'), parseAddress)
    const key = parseAs('KEY', input.argument('KEY'), hexToBytes)
    await read(input, (state) => bytesToHex(readRawTableItem(state, handle, key)))
  },
}

export const getBalanceCommand: Command = {
  name: 'get balance',
  summary: 'Prints the balance of an account in a coin or fungible asset.',
  arguments: [accountArgument, { name: 'ASSET', description: 'a coin type, or the address of a fungible asset' }],
  options: [bcsOption, ...stateOptions],
  examples: [
    'ledger-state get balance 0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab 0x1::aptos_coin::AptosCoin --data-dir data/demo',
    'ledger-state get balance 0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab 0xa --at 2025-01-01T00:12:30Z --data-dir data/demo',
  ],
  async run(input) {
    const owner = parseAs('ADDRESS', input.argument('ADDRESS'), parseAddress)
    const asset = parseAs('ASSET', input.argument('ASSET'), parseAsset)
    const printBalance = (balance: bigint) =>
      input.get(bcsOption) ? bytesToHex(new ByteWriter().u64(balance).toBytes()) : String(balance)
    await read(
      input,
      (state) => printBalance(readBalance(state, owner, asset)),
      (state) => (readBalance(state, owner, asset) === 0n ? hintOfAsset(state, asset) : undefined),
    )
  },
}

export const getResourceCommand: Command = {
  name: 'get resource',
  summary: 'Prints a resource of an account, or a member of a resource group, as JSON.',
  arguments: [accountArgument, { name: 'TYPE', description: 'its type, such as 0x1::account::Account' }],
  options: [bcsOption, ...stateOptions],
  examples: [
    'ledger-state get resource 0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15 0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::harbour::Harbour --data-dir data/demo',
  ],
  async run(input) {
    const address = parseAs('ADDRESS', input.argument('ADDRESS'), parseAddress)
    const type = parseAs('TYPE', input.argument('TYPE'), parseStructTag)
    await read(input, (state) => {
      const resource = namingAbsent(
        () => readResource(state, address, type),
        () => hintOfResource(state, address, type),
      )
      return input.get(bcsOption) ? bytesToHex(resource.bytes) : resource.toJson()
    })
  },
}

export const getModuleCommand: Command = {
  name: 'get module',
  summary: 'Prints the ABI of a module as JSON.',
  details: 'It prints null if the stored bytes are not a readable module. With --bcs it prints the bytecode.',
  arguments: [accountArgument, { name: 'NAME', description: 'name of the module' }],
  options: [bcsOption, ...stateOptions],
  examples: [
    'ledger-state get module 0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15 harbour --data-dir data/demo',
  ],
  async run(input) {
    const address = parseAs('ADDRESS', input.argument('ADDRESS'), parseAddress)
    const name = input.argument('NAME')
    await read(input, (state) => {
      const module = namingAbsent(
        () => readAccountModule(state, address, name),
        () => hintOfModule(state, address, name),
      )
      return input.get(bcsOption) ? bytesToHex(module.bytes) : JSON.stringify(module.readAbi() ?? null)
    })
  },
}

export const getAccountCommand: Command = {
  name: 'get account',
  summary: 'Prints the sequence number and the authentication key of an account as JSON.',
  arguments: [accountArgument],
  options: [bcsOption, ...stateOptions],
  examples: [
    'ledger-state get account 0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab --data-dir data/demo',
  ],
  async run(input) {
    const address = parseAs('ADDRESS', input.argument('ADDRESS'), parseAddress)
    await read(input, (state) => {
      const account = readAccount(state, address)
      if (input.get(bcsOption)) return bytesToHex(account.bytes)
      const { sequenceNumber, authenticationKey } = account.readFields()
      return JSON.stringify({
        sequence_number: String(sequenceNumber),
        authentication_key: bytesToHex(authenticationKey),
      })
    })
  },
}

/** @param hint a line for people about the answer */
async function read(
  input: CommandInput,
  print: (state: LedgerState) => string,
  hint: (state: LedgerState) => string | undefined = () => undefined,
): Promise<void> {
  const asked = askedVersion(input)
  const store = await openLedger(storePlace(input, 'get'))
  try {
    const [text, notice] = await store.read((ledger) => {
      const state = ledger.at(asked(ledger))
      return [print(state), hintIfKnown(() => hint(state))]
    })
    process.stdout.write(`${text}\n`)
    if (notice !== undefined) writeNotice(notice)
  } finally {
    await store.close()
  }
}
