import { useEffect, useState } from 'preact/hooks'
import { type ApiRequest, askText } from '../api/client.ts'
import { untilAnswered } from '../state/until-answered.ts'
import { followedFrom, keepFollowed } from './followed-waypoint.ts'
import type { ProofMessage, ProofResult, ProofTask, Reached } from './proof-task.ts'
import { ProofTurns } from './proof-turns.ts'

/** A read with an answer to be proven. The path of the read has no waypoint in it. */
export type ProofRequest = Omit<ProofTask, 'answer' | 'url'> & { readonly request: ApiRequest }

/** State of a proof: its result, or how far the epochs are followed. */
export interface ProofState {
  readonly outcome?: ProofResult
  readonly reached?: Reached
}

const NOT_LOADED: ProofResult = { unavailable: 'the part of the page that verifies could not be loaded' }
const TURNS = new ProofTurns()

/**
 * Asks for a value with its proof, and verifies it here, one proof after the other.
 * @param known earlier result of the same proof
 */
export function useProof(asked: ProofRequest, known?: ProofResult): ProofState {
  const [state, setState] = useState<ProofState & { readonly of: string }>({ of: '' })
  const name = JSON.stringify(asked, (_, value) => (value instanceof Uint8Array ? [...value] : value))
  useEffect(() => {
    if (known) return undefined
    const stop = new AbortController()
    const show = (next: ProofState): void => {
      if (!stop.signal.aborted) setState({ of: name, ...next })
    }
    TURNS.take(() => verify(asked, stop.signal, (reached) => show({ reached })), stop.signal).then(
      (outcome) => show({ outcome }),
      () => show({ outcome: NOT_LOADED }),
    )
    return () => stop.abort()
  }, [name, known === undefined])
  if (known) return { outcome: known }
  return state.of === name ? state : {}
}

async function verify(
  { request, ...rest }: ProofRequest,
  signal: AbortSignal,
  onReached: (reached: Reached) => void,
): Promise<ProofResult> {
  const trusted = rest.waypoint
  const waypoint = followedFrom(trusted, rest.version)
  const proven = `${request.path}${request.path.includes('?') ? '&' : '?'}proof=true&proof_from=${waypoint}`
  const asked = { ...request, path: proven, at: rest.version }
  const result = await untilAnswered(() => askText(asked, signal), signal)
  if ('failure' in result) return { unavailable: result.failure.message }
  const task = { ...rest, waypoint, answer: result.value, url: `${window.location.origin}/v1` }
  return await inWorker(task, signal, (reached) => {
    keepFollowed(trusted, reached.waypoint)
    onReached(reached)
  })
}

/** The worker of the last proof, which remembers modules. */
let idle: Worker | undefined

function inWorker(task: ProofTask, signal: AbortSignal, onReached: (reached: Reached) => void): Promise<ProofResult> {
  return new Promise((resolve, reject) => {
    const worker = idle ?? new Worker(new URL('./proof-worker.ts', import.meta.url), { type: 'module' })
    idle = undefined
    const heard = new AbortController()
    const end = (outcome: ProofResult, isUsable: boolean): void => {
      heard.abort()
      if (isUsable) idle = worker
      else worker.terminate()
      resolve(outcome)
    }
    const listen = { signal: heard.signal }
    worker.addEventListener(
      'message',
      ({ data }: MessageEvent<ProofMessage>) => {
        if ('reached' in data) onReached(data.reached)
        else end(data.result, true)
      },
      listen,
    )
    worker.addEventListener('error', () => end(NOT_LOADED, false), listen)
    signal.addEventListener(
      'abort',
      () => {
        heard.abort()
        worker.terminate()
        reject(signal.reason)
      },
      listen,
    )
    worker.postMessage(task)
  })
}
