import { useEffect, useState } from 'preact/hooks'
import type { Failure } from '../api/failure.ts'
import type { Disassembly } from './disassemble.ts'

export type DisassemblyResult = Disassembly | { readonly failure: Failure }

const LOST: Failure = { kind: 'unreachable', message: 'the reader of modules could not be loaded' }
const UNREADABLE: Failure = { kind: 'failed', message: 'its bytes are not a module that this page can read' }
const RETRY_MS = 2_000

/**
 * The declarations of a module in hex. Undefined while the reader of modules is loaded, which happens with the first
 * module.
 */
export function useDisassembly(bytecode: string | undefined): DisassemblyResult | undefined {
  const [known, setKnown] = useState<{ readonly of: string; readonly result: DisassemblyResult } | undefined>(undefined)
  useEffect(() => {
    if (bytecode === undefined) return undefined
    const show = (result: DisassemblyResult): void => setKnown({ of: bytecode, result })
    let timer: ReturnType<typeof setTimeout> | undefined
    const load = (): void => {
      import('./disassemble.ts').then(
        ({ disassemble }) => {
          try {
            show(disassemble(bytecode))
          } catch {
            show({ failure: UNREADABLE })
          }
        },
        () => {
          show({ failure: LOST })
          timer = setTimeout(load, RETRY_MS)
        },
      )
    }
    load()
    return () => clearTimeout(timer)
  }, [bytecode])
  return known?.of === bytecode ? known?.result : undefined
}
