import { addressToShortHex, hexToBytes } from '@ledger-state/core'
import type { ErrorDescription } from '@ledger-state/move-module'
import { STATUS, statusName, statusWhileRunning } from './status.js'
import type { ViewFault } from './view-fault.js'
import type { FaultPlace, MoveAbort, VmFault } from './vm-fault.js'

/**
 * Describes a fault for the caller of a view. While a function runs, all codes of the verifier's range are reported as
 * one.
 */
export function describeFault(fault: VmFault, isRunning: boolean): ViewFault {
  const code = isRunning ? statusWhileRunning(fault.status) : fault.status
  return {
    code,
    name: statusName(code),
    subStatus: fault.subStatus,
    message: fault.message ?? displayFault(code, fault.subStatus, fault.place),
  }
}

/** The text of a fault that has no message. */
export function displayFault(code: number, subStatus: bigint | undefined, place: FaultPlace | undefined): string {
  const sub = subStatus === undefined ? '' : ` with sub status ${subStatus}`
  const location = place
    ? `Module ModuleId { address: ${place.address}, name: Identifier("${place.module}") }`
    : 'UNDEFINED'
  const offset =
    place?.codeOffset === undefined
      ? ''
      : ` at code offset ${place.codeOffset} in function definition ${place.functionIndex}`
  return `VMError with status ${statusName(code)}${sub} at location ${location}${offset}`
}

/** Describes an abort for the caller, with the name and text that the aborting module gives its code. */
export function describeAbort(
  { code, text, place }: MoveAbort,
  errors: ReadonlyMap<bigint, ErrorDescription>,
  looksUpWholeCode: boolean,
): ViewFault {
  const known = looksUpWholeCode ? findByWholeCode(errors, code) : findByReason(errors, code)
  const hex = `0x${code.toString(16)}`
  const module = `${addressToShortHex(hexToBytes(place!.address))}::${place!.module}`
  const explained =
    text === undefined ? known && `${known.name}(${hex}): ${known.text}` : `${known?.name ?? ''}(${hex}): ${text}`
  return {
    code: STATUS.ABORTED,
    name: statusName(STATUS.ABORTED),
    subStatus: code,
    message: `Move abort in ${module}: ${explained ?? hex}`,
  }
}

/** The lowest 12 bits of a code are the reason; the bits above are the category. */
function findByReason(errors: ReadonlyMap<bigint, ErrorDescription>, code: bigint): ErrorDescription | undefined {
  return errors.get(code & 0xfffn) ?? errors.get(code)
}

function findByWholeCode(errors: ReadonlyMap<bigint, ErrorDescription>, code: bigint): ErrorDescription | undefined {
  return errors.get(code) ?? (code >> 24n === 0n ? errors.get(code & 0xffffn) : undefined)
}
