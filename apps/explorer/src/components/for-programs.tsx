import { useState } from 'preact/hooks'
import { type ApiRequest, requestPath } from '../api/client.ts'
import { sdkPreamble, toCommandLine, toCurl, toSdkLine } from '../api/program-lines.ts'

/** The requests behind a view, for curl, ts-sdk and the command line, to copy. */
export function ForPrograms({ requests }: { readonly requests: readonly ApiRequest[] }) {
  const { origin } = window.location
  const lines = (of: (request: ApiRequest) => string | undefined) => requests.flatMap((one) => of(one) ?? [])
  const [sdk, command] = [lines(toSdkLine), lines(toCommandLine)]
  return (
    <details class="for-programs">
      <summary>For programs</summary>
      <h2>curl</h2>
      {requests.map((request) => (
        <CopyLine key={requestPath(request)} text={toCurl(origin, request)} />
      ))}
      {sdk.length > 0 && (
        <>
          <h2>ts-sdk</h2>
          {[...sdkPreamble(origin), ...sdk].map((text) => (
            <CopyLine key={text} text={text} />
          ))}
        </>
      )}
      {command.length > 0 && (
        <>
          <h2>command line, beside the store</h2>
          {command.map((text) => (
            <CopyLine key={text} text={text} />
          ))}
        </>
      )}
    </details>
  )
}

export function CopyLine({ text }: { readonly text: string }) {
  const [state, setState] = useState<'new' | 'copied' | 'refused'>('new')
  const copy = async (): Promise<void> => {
    // Without TLS a browser gives no clipboard, unless the node is on this machine.
    const written = navigator.clipboard?.writeText(text)
    if (written === undefined) setState('refused')
    else
      await written.then(
        () => setState('copied'),
        () => setState('refused'),
      )
  }
  return (
    <div class="copy-line">
      <code>{text}</code>
      <button type="button" onClick={() => void copy()}>
        {state === 'new' ? 'Copy' : state === 'copied' ? 'Copied' : 'Select it to copy'}
      </button>
    </div>
  )
}
