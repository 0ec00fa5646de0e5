import { addressToShortHex } from '@ledger-state/core'
import { instructionToDebugText, readModuleCode } from '@ledger-state/move-module'
import type { ExecutionModule, ExecutionStatus } from '@ledger-state/proof/transactions'
import { moduleKey } from '@ledger-state/type-tag'
import { orUndefined, type RenderContext } from './render-context.js'
import { vmStatusName } from './vm-status-names.js'

/** The end of a transaction's program in words, as the reference prints it. */
export function vmStatusToText(context: RenderContext, status: ExecutionStatus): string {
  switch (status.kind) {
    case 'success':
      return 'Executed successfully'
    case 'out_of_gas':
      return 'Out of gas'
    case 'abort': {
      const { module, code, described } = status
      if (!module) return `Move abort: code 0x${code.toString(16)}`
      const place = `Move abort in ${moduleText(module)}: `
      const number = `0x${code.toString(16)}`
      return place + (described ? `${described.name}(${number}): ${described.text}` : number)
    }
    case 'failure': {
      const { module, definition, codeOffset } = status
      if (!module) return `Execution failed in script at code offset ${codeOffset}`
      const { name, instruction } = failedFunction(context, module, definition, codeOffset)
      const at = instruction === undefined ? '' : ` (on instruction ${instruction})`
      return `Execution failed in ${moduleText(module)}::${name}${at} at code offset ${codeOffset}`
    }
    default:
      return status.code === undefined
        ? 'Execution failed with miscellaneous error and no status code'
        : vmStatusName(status.code)
  }
}

function failedFunction(
  { view }: RenderContext,
  { address, name }: ExecutionModule,
  definition: number,
  codeOffset: number,
): { readonly name: string; readonly instruction?: string | undefined } {
  const bytes = view.get(moduleKey(address, name))
  const failed = bytes && orUndefined(() => readModuleCode(bytes).functions[definition])
  if (!failed) return { name: `<#${definition} function>` }
  return { name: failed.name, instruction: failed.code && instructionToDebugText(failed.code, codeOffset) }
}

function moduleText({ address, name }: ExecutionModule): string {
  return `${addressToShortHex(address)}::${name}`
}
