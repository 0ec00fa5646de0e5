import { listResourcesInSteps, type Resource } from '@ledger-state/ledger'
import { structTagToBytes } from '@ledger-state/type-tag'
import { printResource } from '../formats/resource-formats.js'
import { createAccountListing } from './parts/account-listing.js'
import { type BcsMapEntry, PrintedArrayBody } from './parts/page-bodies.js'

export const getAccountResources = createAccountListing<Resource>({
  id: 'get_account_resources',
  path: '/v1/accounts/{address}/resources',
  summary: 'Get account resources',
  description:
    'Lists the resources of an account in pages, including members of resource groups. The list of an empty account is empty. A group counts once towards `limit`. In BCS: a map of struct tags to stored bytes.',
  schema: 'Resource',
  list: (state, address, options) => listResourcesInSteps(state, address, options),
  openJson: (out) => new PrintedArrayBody(out, printResource),
  toEntry: resourceToEntry,
})

function resourceToEntry({ tag, bytes }: Resource): BcsMapEntry {
  return { key: structTagToBytes(tag), value: bytes }
}
