import { type ApiRequest, requestPath } from '../api/client.ts'
import { sdkPreamble, toCommandLine, toCurl, toSdkLine } from '../api/program-lines.ts'
import { CopyButton } from './copy-button.tsx'

/** The requests behind a view, to copy for curl, the ts-sdk and the command line. */
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
          <h2>command line, on the machine of the store</h2>
          {command.map((text) => (
            <CopyLine key={text} text={text} />
          ))}
        </>
      )}
    </details>
  )
}

export function CopyLine({ text }: { readonly text: string }) {
  return (
    <div class="copy-line">
      <code>{text}</code>
      <CopyButton text={text} what={text} />
    </div>
  )
}
