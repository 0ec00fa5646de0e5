import { useEffect, useState } from 'preact/hooks'
import { type ApiRequest, ask, askText, type Result, requestPath } from '../api/client.ts'

/** Undefined while it is asked for; the last answer is kept while the same is asked for again. */
export function useAnswer<T>(request: ApiRequest | undefined): Result<T> | undefined {
  return useAsked(request, ask<T>)
}

/** The answer as text, where a number may be larger than JavaScript can hold. */
export function useText(request: ApiRequest | undefined): Result<string> | undefined {
  return useAsked(request, askText)
}

function useAsked<T>(
  request: ApiRequest | undefined,
  send: (request: ApiRequest, signal: AbortSignal) => Promise<Result<T>>,
): Result<T> | undefined {
  const [result, setResult] = useState<{ readonly of: string; readonly result: Result<T> } | undefined>(undefined)
  const name = request && `${requestPath(request)} ${request.body ?? ''}`
  useEffect(() => {
    if (!request || name === undefined) return undefined
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const load = (): void => {
      send(request, stop.signal).then(
        (found) => {
          setResult({ of: name, result: found })
          const retryAfterMs = 'failure' in found ? found.failure.retryAfterMs : undefined
          if (retryAfterMs !== undefined) timer = setTimeout(load, retryAfterMs)
        },
        () => {},
      )
    }
    load()
    return () => {
      stop.abort()
      clearTimeout(timer)
    }
  }, [name])
  return result?.of === name ? result?.result : undefined
}
