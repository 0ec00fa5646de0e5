import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface Ended {
  /** Exit status; undefined if a signal ended the program. */
  readonly status: number | undefined
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end, at most `timeout` milliseconds, without input. */
export async function runToEnd(
  program: string,
  words: readonly string[],
  options: { readonly cwd?: string; readonly timeout?: number } = {},
): Promise<Ended> {
  const child = spawn(program, words, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const [status] = (await once(child, 'close')) as [number | null]
  return { status: status ?? undefined, stdout, stderr }
}
