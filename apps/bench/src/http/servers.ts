import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { onLastCore } from './cores.ts'
import type { MakeRequest } from './load.ts'

/** The built program that users run. */
const PROGRAM = fileURLToPath(new URL('../../../node/dist/main.js', import.meta.url))
const CONSTANT_SERVER = fileURLToPath(new URL('./constant-server.ts', import.meta.url))

/** A server under test: a process, perhaps with children. */
export interface Server {
  readonly port: number
  readonly pid: number
  stop(): Promise<void>
}

export interface ConstantAnswer {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Starts a process on the last core. `besideLastCore` keeps others off it. */
function spawnOnLastCore(words: readonly string[], stdio: 'ipc' | 'pipe'): ChildProcess {
  const [command, ...rest] = onLastCore([process.execPath, ...words])
  return spawn(command!, rest, {
    stdio: stdio === 'ipc' ? ['ignore', 'inherit', 'inherit', 'ipc'] : ['ignore', 'pipe', 'pipe'],
  })
}

/** Starts `ledger-state serve` over a store, with one reader. */
export async function startNode(folder: string): Promise<Server> {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is not built: run pnpm build`)
  const addresses = ['--listen', '127.0.0.1:0', '--admin-listen', 'off']
  const child = spawnOnLastCore([PROGRAM, 'serve', '--data-dir', folder, '--readers', '1', ...addresses], 'pipe')
  const ended = once(child, 'exit')
  let output = ''
  const port = await new Promise<number>((resolve, reject) => {
    const onText = (text: string): void => {
      output += text
      const port = /on http:\/\/127\.0\.0\.1:(\d+)\/v1/.exec(output)?.[1]
      if (port !== undefined) resolve(Number(port))
    }
    for (const stream of [child.stdout!, child.stderr!]) stream.setEncoding('utf8').on('data', onText)
    child.once('exit', (status) => reject(new Error(`ledger-state serve ended with status ${status}: ${output}`)))
  })
  return {
    port,
    pid: child.pid!,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Starts fastify or node:http with one answer to every request. */
export async function startConstantServer(kind: 'fastify' | 'node:http', answer: ConstantAnswer): Promise<Server> {
  const child = spawnOnLastCore([CONSTANT_SERVER, kind, JSON.stringify(answer)], 'ipc')
  const ended = once(child, 'exit')
  const [port] = (await once(child, 'message')) as [number]
  return {
    port,
    pid: child.pid!,
    async stop() {
      child.disconnect()
      await ended
    },
  }
}

/**
 * Headers that are compared, in addition to the chain-state headers. All others belong to the connection or the body.
 */
const CONSTANT_HEADERS: ReadonlySet<string> = new Set(['content-type', 'vary', 'cache-control'])

/** A server's answer to the first of the requests. */
export async function sampleAnswer(port: number, makeRequest: MakeRequest): Promise<ConstantAnswer> {
  const [head, body] = makeRequest(0).toString().split('\r\n\r\n')
  const [method, path] = head!.split(' ') as [string, string]
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body && { body }),
  })
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  const headers = [...answer.headers].filter(([name]) => name.startsWith('x-') || CONSTANT_HEADERS.has(name))
  return { headers: Object.fromEntries(headers), body: await answer.text() }
}
