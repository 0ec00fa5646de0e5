import { addressToShortHex, ByteWriter } from '@ledger-state/core'
import { type AccountModule, listAccountModules } from '@ledger-state/ledger'
import { moduleToJson } from '../formats/module-formats.js'
import { inForm } from '../formats/page-body.js'
import { createAccountListing } from './parts/account-listing.js'
import { type BcsMapEntry, openJsonTexts } from './parts/page-bodies.js'

export const getAccountModules = createAccountListing<AccountModule>({
  id: 'get_account_modules',
  path: '/v1/accounts/{address}/modules',
  summary: 'Get account modules',
  description:
    'Lists the modules of an account, with bytecode and ABI, in pages. The list of an empty account is empty. In BCS: a map of names such as `0x1::coin` to bytecode.',
  schema: 'Module',
  list: (state, address, options) => listAccountModules(state, address, options),
  openJson: (out) => inForm(moduleToJson, openJsonTexts(out)),
  toEntry: moduleToEntry,
})

function moduleToEntry({ address, name, bytes }: AccountModule): BcsMapEntry {
  return { key: new ByteWriter().string(`${addressToShortHex(address)}::${name}`).toBytes(), value: bytes }
}
