import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { onLastCore } from '../http/cores.ts'

/** The built program that users run. */
const PROGRAM = fileURLToPath(new URL('../../../node/dist/main.js', import.meta.url))
const USAGE_AT_EXIT = fileURLToPath(new URL('usage-at-exit.ts', import.meta.url))

export interface ExportUsage {
  readonly seconds: number
  /** CPU time of all threads. */
  readonly cpuMicroseconds: number
  readonly peakBytes: number
}

/** Exports a store as Parquet with the program, on one core or on all. */
export async function runExport(store: string, to: string, cores: 'one' | 'all'): Promise<ExportUsage> {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is not built: run pnpm build`)
  const words = [process.execPath, '--import', USAGE_AT_EXIT, PROGRAM, 'export', to]
  words.push('--format', 'parquet', '--data-dir', store)
  const [command, ...rest] = cores === 'one' ? onLastCore(words) : words
  const began = performance.now()
  const child = spawn(command!, rest, { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] })
  const [said, usage, [status]] = await Promise.all([
    text(child.stderr!),
    text(child.stdio[3] as never),
    once(child, 'exit'),
  ])
  if (status !== 0) throw new Error(`ledger-state export ended with status ${status}: ${said}`)
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(usage) as NodeJS.ResourceUsage
  return {
    seconds: (performance.now() - began) / 1_000,
    cpuMicroseconds: userCPUTime + systemCPUTime,
    peakBytes: maxRSS * 1_024,
  }
}
