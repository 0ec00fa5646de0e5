import { useEffect, useState } from 'preact/hooks'
import { type ApiRequest, askText } from '../api/client.ts'
import type { ProofResult, ProofTask } from './proof-task.ts'

/** What came of a proof; the node may have none from a waypoint that it does not know. */
export type ProofOutcome = ProofResult | { readonly unavailable: string }

/** A read whose answer is to be proven. The waypoint is none of the address that is read. */
export type ProofRequest = Omit<ProofTask, 'answer' | 'url'> & { readonly request: ApiRequest }

const NOT_LOADED: ProofOutcome = { unavailable: 'the part of the page that verifies could not be loaded' }

/** Asks for a value with its proof, and verifies it here; undefined while that continues. */
export function useProof(asked: ProofRequest): ProofOutcome | undefined {
  const [known, setKnown] = useState<{ readonly of: string; readonly outcome: ProofOutcome } | undefined>(undefined)
  const name = JSON.stringify(asked)
  useEffect(() => {
    const stop = new AbortController()
    const show = (outcome: ProofOutcome): void => {
      if (!stop.signal.aborted) setKnown({ of: name, outcome })
    }
    verify(asked, stop.signal).then(show, () => show(NOT_LOADED))
    return () => stop.abort()
  }, [name])
  return known?.of === name ? known.outcome : undefined
}

async function verify({ request, ...rest }: ProofRequest, signal: AbortSignal): Promise<ProofOutcome> {
  const proven = `${request.path}${request.path.includes('?') ? '&' : '?'}proof=true&proof_from=${rest.waypoint}`
  const result = await askText({ ...request, path: proven, at: rest.version }, signal)
  if ('failure' in result) return { unavailable: result.failure.message }
  return await inWorker({ ...rest, answer: result.value, url: `${window.location.origin}/v1` }, signal)
}

function inWorker(task: ProofTask, signal: AbortSignal): Promise<ProofOutcome> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL('./proof-worker.ts', import.meta.url), { type: 'module' })
    const end = (outcome: ProofOutcome): void => {
      worker.terminate()
      resolve(outcome)
    }
    worker.addEventListener('message', ({ data }: MessageEvent<ProofResult>) => end(data))
    worker.addEventListener('error', () => end(NOT_LOADED))
    signal.addEventListener('abort', () => worker.terminate())
    worker.postMessage(task)
  })
}
