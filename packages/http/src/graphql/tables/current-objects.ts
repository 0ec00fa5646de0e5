import { bytesToHex } from '@ledger-state/core'
import { listOwnedObjects, type OwnedObject, readGuidCount, readOwnedObject } from '@ledger-state/ledger'
import { objectKey } from '@ledger-state/records'
import { address, bigint, flag, numeric, text } from '../columns.js'
import { allowedTexts } from '../conditions.js'
import type { Table } from '../table.js'
import { addressesOf, allPages, rowsOfEach } from './pages.js'

/** Objects, with their owners. An object that was deleted is in no state, so it has no row. */
export const CURRENT_OBJECTS: Table<OwnedObject> = {
  name: 'current_objects',
  needs: 'object_address or owner_address',
  hasAggregate: true,
  columns: {
    allow_ungated_transfer: flag((row) => row.allowsUngatedTransfer),
    is_deleted: flag(() => false),
    last_guid_creation_num: numeric((row) => readGuidCount(row.group)),
    last_transaction_version: bigint((row) => row.version),
    object_address: address((row) => row.address),
    owner_address: address((row) => row.owner),
    state_key_hash: text((row, { hasher }) => bytesToHex(hasher().hash('StateKey', objectKey(row.address)))),
  },
  sizeOf: (row) => row.group.length,
  find({ state }, condition) {
    const objects = allowedTexts(condition, 'object_address')
    if (objects) return rowsOfEach(addressesOf(objects), (object) => [readOwnedObject(state, object)])
    const owners = allowedTexts(condition, 'owner_address')
    return (
      owners && rowsOfEach(addressesOf(owners), (owner) => allPages((page) => listOwnedObjects(state, owner, page)))
    )
  },
}
