import { useState } from 'preact/hooks'
import { requestPath } from '../api/client.ts'
import { type OpenApiDocument, type Operation, operationsOf, toRequest } from '../api/open-api.ts'
import { toCurl } from '../api/program-lines.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import { CopyLine } from '../components/for-programs.tsx'
import { Loading } from '../components/loading.tsx'
import { useAnswer } from '../state/use-answer.ts'

/** Every operation of the API, each with a form that sends it. */
export function ApiView({ operation }: { readonly operation: string | undefined }) {
  const answer = useAnswer<OpenApiDocument>({ path: '/spec.json' })
  const operations = answer && 'value' in answer ? operationsOf(answer.value) : []
  const tags = [...new Set(operations.map(({ tag }) => tag))]
  return (
    <>
      <h1>API</h1>
      <p class="subtitle">
        The document for programs is <a href="/v1/spec.json">/v1/spec.json</a>; to read: <a href="/v1/spec">/v1/spec</a>
        .
      </p>
      {answer === undefined && <Loading />}
      {answer && 'failure' in answer && <FailureNotice failure={answer.failure} />}
      {tags.map((tag) => (
        <section key={tag} aria-label={tag}>
          <h2>{tag}</h2>
          {operations
            .filter((one) => one.tag === tag)
            .map((one) => (
              <OperationCard key={one.id} operation={one} isOpen={one.id === operation} />
            ))}
        </section>
      ))}
    </>
  )
}

function OperationCard({ operation, isOpen }: { readonly operation: Operation; readonly isOpen: boolean }) {
  const [wasOpened, setOpened] = useState(isOpen)
  return (
    <details class="card" open={isOpen} onToggle={(event) => event.currentTarget.open && setOpened(true)}>
      <summary>
        <span class="method">{operation.method}</span> <code>/v1{operation.path}</code>{' '}
        <small>{operation.summary}</small>
      </summary>
      <p>{operation.description}</p>
      <p>
        <a href={`/api/${operation.id}`}>Link to this operation</a>
      </p>
      {wasOpened && <OperationForm operation={operation} />}
    </details>
  )
}

interface Sent {
  readonly status: string
  readonly text: string
}

/** Length at which answers are cut. Longer ones are for programs. */
const SHOWN_CHARACTERS = 20_000

function OperationForm({ operation }: { readonly operation: Operation }) {
  const [written, setWritten] = useState<Readonly<Record<string, string>>>({})
  const [body, setBody] = useState(operation.bodyExample)
  const [sent, setSent] = useState<Sent | undefined>(undefined)
  const request = toRequest(operation, written, body)
  const send = async (): Promise<void> => setSent(await sendRequest(request))
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      {operation.parameters.map(({ name, description, isRequired }) => (
        <label key={name}>
          <span>
            <code>{name}</code>
            {isRequired && ' (required)'}: {description}
          </span>
          <input
            type="text"
            required={isRequired}
            autocomplete="off"
            value={written[name] ?? ''}
            onInput={(event) => setWritten({ ...written, [name]: event.currentTarget.value })}
          />
        </label>
      ))}
      {operation.method === 'POST' && (
        <label>
          Body, as JSON
          <textarea value={body} onInput={(event) => setBody(event.currentTarget.value)} />
        </label>
      )}
      <button type="submit">Send</button>
      <CopyLine text={toCurl(window.location.origin, request)} />
      {sent && (
        <div role="status">
          <strong>{sent.status}</strong>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
          <pre class="answer" tabIndex={0}>
            {sent.text}
          </pre>
        </div>
      )}
    </form>
  )
}

async function sendRequest(request: ReturnType<typeof toRequest>): Promise<Sent> {
  try {
    const response = await fetch(requestPath(request), {
      headers: {
        accept: 'application/json',
        ...(request.body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(request.body !== undefined && { method: 'POST', body: request.body }),
    })
    const text = await response.text()
    const rest = text.length - SHOWN_CHARACTERS
    return {
      status: `${response.status} ${response.statusText}`,
      text: rest > 0 ? `${text.slice(0, SHOWN_CHARACTERS)}… and ${rest} characters more` : text,
    }
  } catch {
    return { status: 'The node does not answer', text: '' }
  }
}
