import { malformedCode, type VmFault } from '../faults/vm-fault.js'

/**
 * Stands for the struct that a native returns where its module declares another one. It may be moved and dropped.
 * Reading it is a fault, because its fields have other types than the code expects.
 */
export class OpaqueStruct {
  get variant(): never {
    throw foreignStruct()
  }

  get fields(): never {
    throw foreignStruct()
  }

  fieldsFor(): never {
    throw foreignStruct()
  }
}

function foreignStruct(): VmFault {
  return malformedCode('a struct that a native returns and its module does not declare')
}
