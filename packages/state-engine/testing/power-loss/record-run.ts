// Records the writes of runs by strace: everything that each writes into its folder, in order, with every sync and its
// output.
import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { type DiskEvent, readTrace, type TraceLine } from './read-trace.ts'
import { type RecordedRun, RUN_BEGINS } from './recorded-run.ts'

export interface RunToRecord {
  /** Folder of the run, empty except for the files of `existing`. */
  readonly folder: string
  readonly run: RecordedRun
  /** Files that the folder has, in the order of their ids. */
  readonly existing?: ReadonlyMap<string, Buffer> | undefined
}

const SCRIPT = fileURLToPath(new URL('recorded-runs.ts', import.meta.url))

const CALLS =
  'open openat creat close dup dup2 dup3 lseek write writev pwrite64 pwritev pwritev2 ftruncate truncate fallocate fsync fdatasync sync_file_range msync mmap rename renameat renameat2 link linkat unlink unlinkat rmdir copy_file_range sendfile splice clone clone3 fork vfork'

/** Whether this machine lets a process record another. */
export function canRecord(): boolean {
  return spawnSync('strace', ['-f', '-e', 'trace=close', '-o', '/dev/null', 'true']).status === 0
}

/**
 * Runs the given runs to their ends, all in one process, because to start it takes longer than a run.
 * @throws if it fails, or writes in a way that is not recorded
 */
export function recordRuns(runs: readonly RunToRecord[]): DiskEvent[][] {
  const traces = mkdtempSync(join(tmpdir(), 'disk-trace-'))
  try {
    const trace = join(traces, 'trace')
    const words = ['-f', '-xx', '-s', '100000000', '--seccomp-bpf', '-e', `trace=${CALLS.replaceAll(' ', ',')}`]
    const given = JSON.stringify(runs.map(({ folder, run }) => ({ folder, run })))
    // Writes to a file never wait, so a line is printed at the moment of its event.
    const output = openSync(join(traces, 'output'), 'w')
    const { status, signal, stderr } = spawnSync(
      'strace',
      [...words, '-o', trace, process.execPath, ...SOURCE_OPTIONS, SCRIPT, given],
      { encoding: 'utf8', env: { ...process.env, UV_USE_IO_URING: '0' }, stdio: ['ignore', output, 'pipe'] },
    )
    closeSync(output)
    if (status !== 0 && signal === null && !existsSync(trace)) throw new Error(`strace failed: ${stderr}`)
    if (status !== 0) throw new Error(`${basename(SCRIPT)} ended with ${signal ?? status}: ${stderr}`)
    const parts = runParts(linesOf(readFileSync(trace, 'latin1')))
    return runs.map(({ folder, existing }, at) => readTrace(folder, parts[at]!, existing))
  } finally {
    rmSync(traces, { recursive: true })
  }
}

/** Lines of the first process. Others, such as the compiler of the sources, have separate descriptors and outputs. */
function linesOf(trace: string): TraceLine[] {
  const lines = trace.split('\n').flatMap((line) => {
    const space = line.indexOf(' ')
    const [thread, text] = [line.slice(0, space), line.slice(space).trimStart()]
    return space > 0 && !text.startsWith('+++') && !text.startsWith('---') ? [{ thread, text }] : []
  })
  const threads = threadsOf(lines)
  return lines.filter(({ thread }) => threads.has(thread))
}

/** Lines of each run. */
function runParts(lines: readonly TraceLine[]): TraceLine[][] {
  const begins = `write(1, "${hexOf(RUN_BEGINS)}`
  const places = lines.flatMap(({ text }, at) => (text.startsWith(begins) ? [at] : []))
  return places.map((place, at) => lines.slice(place + 1, places[at + 1]))
}

function threadsOf(lines: readonly TraceLine[]): Set<string> {
  const threads = new Set([lines[0]!.thread])
  const begun = new Map<string, string>()
  for (const { thread, text } of lines) {
    if (!/^(clone3?|v?fork)\(|^<... (clone3?|v?fork) resumed>/.test(text)) continue
    const whole = text.startsWith('<') ? `${begun.get(thread)}${text}` : text
    begun.set(thread, text)
    const created = /= (\d+)$/.exec(whole)?.[1]
    if (created && threads.has(thread) && whole.includes('CLONE_THREAD')) threads.add(created)
  }
  return threads
}

function hexOf(text: string): string {
  return Buffer.from(text)
    .toString('hex')
    .replaceAll(/../g, (byte) => `\\x${byte}`)
}
