import { useEffect, useState } from 'preact/hooks'
import { type ApiRequest, ask, askText, type Result, readsLatest, requestPath } from '../api/client.ts'
import { keepFresh } from './keep-fresh.ts'

/**
 * The answer to a request; undefined until it has come. It is asked for again after the ledger grew, and the last
 * answer is kept until then.
 */
export function useAnswer<T>(request: ApiRequest | undefined): Result<T> | undefined {
  return useAsked(request, ask<T>)
}

/** The answer as text, for numbers that may be larger than JavaScript can hold. */
export function useText(request: ApiRequest | undefined): Result<string> | undefined {
  return useAsked(request, askText)
}

function useAsked<T>(
  request: ApiRequest | undefined,
  send: (request: ApiRequest, signal: AbortSignal) => Promise<Result<T>>,
): Result<T> | undefined {
  const [asked, setAsked] = useState<{ readonly of: string; readonly result: Result<T> } | undefined>(undefined)
  const name = request && `${requestPath(request)} ${request.body ?? ''}`
  useEffect(() => {
    if (!request || name === undefined) return undefined
    let last: Result<T> | undefined
    const fresh = keepFresh({
      async load(signal) {
        const result = await send(request, signal)
        const failure = 'failure' in result ? result.failure : undefined
        // The time machine says that the node is lost. Earlier answers are still true.
        const isPassing = failure?.retryAfterMs !== undefined
        if (!(isPassing && last && 'value' in last)) {
          last = result
          setAsked({ of: name, result })
        }
        return failure
      },
      isLive: () => readsLatest(request) || (last && 'failure' in last && last.failure.kind === 'future') === true,
    })
    return fresh.stop
  }, [name])
  return asked?.of === name ? asked?.result : undefined
}
