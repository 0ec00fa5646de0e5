import { codecOf } from '@ledger-state/bcs'
import { addressToShortHex, hexToBytes } from '@ledger-state/core'
import { layoutOf, readModule } from '@ledger-state/move-module'
import { parseTypeTag } from '@ledger-state/type-tag'
import { ITEM, MODULES, VALUE_TYPE } from './chain-data.ts'

// The layout of a type comes from the modules that define it, so no schema is kept in the page.
const layout = layoutOf(parseTypeTag(VALUE_TYPE), ({ address, name }) => {
  const bytecode = MODULES[`${addressToShortHex(address)}::${name}`]
  return bytecode === undefined ? undefined : readModule(hexToBytes(bytecode))
})
document.querySelector('#item')!.textContent = codecOf(layout).bytesToJson(hexToBytes(ITEM))
