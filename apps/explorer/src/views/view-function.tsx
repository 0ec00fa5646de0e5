import { useState } from 'preact/hooks'
import type { ModuleAnswer } from '../api/answers.ts'
import type { Failure } from '../api/failure.ts'
import { CallAnswer } from '../components/call-answer.tsx'
import { FailureNotice } from '../components/failure-notice.tsx'
import { ForPrograms } from '../components/for-programs.tsx'
import { Link } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { cutText } from '../components/long-text.tsx'
import { Problem } from '../components/problem.tsx'
import { TypeField } from '../components/type-field.tsx'
import { TypeText } from '../components/type-text.tsx'
import type { FunctionDeclaration } from '../move/disassemble.ts'
import { useDisassembly } from '../move/use-disassembly.ts'
import { NotProven } from '../proof/not-proven.tsx'
import { ProvenCall } from '../proof/proven-call.tsx'
import { goTo, route } from '../state/location.ts'
import { isMoveType, type MoveType, parseMoveType, withArguments } from '../state/move-type.ts'
import type { ViewCall } from '../state/route.ts'
import { useAnswer } from '../state/use-answer.ts'
import { callToBody, viewHistoryRequest } from '../state/view-call.ts'
import { isWatched, unwatch, watch } from '../state/watched-calls.ts'
import { ViewHistory } from './view-history.tsx'

interface ViewFunctionProps {
  /** Name such as `0x1::coin::balance`. */
  readonly name: string
  readonly call: ViewCall | undefined
}

/** A view function: a form for its arguments, and its answer at the version of the page. */
export function ViewFunctionView({ name, call }: ViewFunctionProps) {
  const [address = '', module = '', called = ''] = name.split('::')
  const path = `/accounts/${encodeURIComponent(address)}/module/${encodeURIComponent(module)}`
  const answer = useAnswer<ModuleAnswer>({ path, at: route.value.at })
  const disassembly = useDisassembly(answer && 'value' in answer ? answer.value.bytecode : undefined)
  const known = disassembly && !('failure' in disassembly) ? disassembly : undefined
  // The answer is below the form, which would move it.
  const isFormKnown = disassembly !== undefined || (answer !== undefined && 'failure' in answer)
  const declared = known?.functions.find((one) => one.name === called)
  return (
    <>
      <h1>
        View <bdi>{called}</bdi>
      </h1>
      <p class="subtitle">
        of{' '}
        <Link view={{ name: 'module', address, module }}>
          <bdi class="type">
            {address}::{module}
          </bdi>
        </Link>
      </p>
      {(answer === undefined || ('value' in answer && disassembly === undefined)) && <Loading />}
      {answer && 'failure' in answer && <FailureNotice failure={answer.failure} />}
      {disassembly && 'failure' in disassembly && <FailureNotice failure={disassembly.failure} />}
      {known && !declared && <p class="empty">The module has no such function at this version.</p>}
      {declared && !declared.isView && (
        <p class="hint">It is not marked as a view at this version: a node refuses it.</p>
      )}
      {declared && <CallForm name={name} declared={declared} call={call} />}
      {call && !isJsonList(call.arguments) && <FailureNotice failure={NO_LIST} />}
      {isFormKnown && call && isJsonList(call.arguments) && (
        <CallResult name={name} call={call} results={declared?.results ?? []} />
      )}
    </>
  )
}

const NO_LIST: Failure = { kind: 'invalid', message: 'the arguments in the address of the page are not a JSON array' }

function isJsonList(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(text))
  } catch {
    return false
  }
}

interface CallFormProps extends ViewFunctionProps {
  readonly declared: FunctionDeclaration
}

/** Texts in the form: one for each type argument, and JSON for each argument. */
type Written = readonly (string | undefined)[]

function CallForm({ name, declared, call }: CallFormProps) {
  const { signature, typeParameterCount, parameters } = declared
  const taken = parameters.filter((type) => !isSigner(type))
  const [types, setTypes] = useState<Written>(call?.typeArguments ?? [])
  const [values, setValues] = useState<Written>([])
  const typeArguments = Array.from({ length: typeParameterCount }, (_, at) => types[at]?.trim() ?? '')
  const arguments_ = taken.map((_, at) => values[at])
  const given = typeArguments.map(parseMoveType)
  const isWhole = given.every(isMoveType) && !arguments_.includes(undefined)
  const [isTried, setTried] = useState(false)
  return (
    <form
      class="form card"
      aria-label="Call"
      onSubmit={(event) => {
        event.preventDefault()
        setTried(true)
        if (!isWhole) return
        const next = { typeArguments, arguments: `[${arguments_.join(',')}]` }
        goTo({ view: { name: 'view', function: name, call: next }, at: route.value.at }, 'stay')
      }}
    >
      <p>
        <TypeText text={signature} />
      </p>
      {typeArguments.map((text, at) => (
        <Problem key={at} text={isTried ? typeProblem(given[at]!) : undefined}>
          {(described) => (
            <label>
              T{at}, a type
              <input
                type="text"
                autocomplete="off"
                spellcheck={false}
                value={text}
                {...described}
                onInput={(event) => setTypes(replaced(types, at, event.currentTarget.value))}
              />
            </label>
          )}
        </Problem>
      ))}
      {taken.map((type, at) => (
        <TypeField
          key={at}
          label={`argument ${at + 1}`}
          type={parseMoveType(withArguments(type.replace(/^&(mut )?/, ''), given))}
          isTried={isTried}
          onJson={(json) => setValues((before) => replaced(before, at, json))}
        />
      ))}
      <button type="submit">Call</button>
    </form>
  )
}

/** The fault of a type argument; undefined if it has none. */
function typeProblem(type: MoveType): string | undefined {
  if (type.text === '') return 'A type is missing, such as 0x1::aptos_coin::AptosCoin.'
  if (isMoveType(type)) return undefined
  return `“${cutText(type.text)}” is not a type, such as u64, vector<u8> or 0x1::aptos_coin::AptosCoin.`
}

/** Whether a parameter is a signer, which a request cannot give to a view. */
function isSigner(type: string): boolean {
  return type === 'signer' || type === '&signer'
}

function replaced(written: Written, at: number, text: string | undefined): Written {
  const next = [...written]
  next[at] = text
  return next
}

interface CallResultProps {
  readonly name: string
  readonly call: ViewCall
  /** Types of the results, as the module writes them. */
  readonly results: readonly string[]
}

function CallResult({ name, call, results }: CallResultProps) {
  const body = callToBody(name, call)
  const request = { path: '/view', at: route.value.at, body }
  return (
    <section aria-label="Answer" aria-live="polite">
      <div class="inline">
        <h2>Answer</h2>
        <WatchButton name={name} call={call} />
      </div>
      <p class="hint">
        called with <bdi class="type">{call.arguments}</bdi>
      </p>
      <NotProven>
        The history of a view is not proven: the node computes it, and a proof is of the state at one version.
      </NotProven>
      <ForPrograms requests={[request, viewHistoryRequest(body)]} />
      <CallAnswer name={name} call={call} results={results}>
        {(answer) => (
          <>
            <ProvenCall key={`${body} ${request.at}`} name={name} call={call} request={request} answer={answer} />
            <ViewHistory key={body} name={name} call={call} results={results} />
          </>
        )}
      </CallAnswer>
    </section>
  )
}

function WatchButton({ name, call }: Pick<CallResultProps, 'name' | 'call'>) {
  const watched = { function: name, call }
  const isWatching = isWatched(watched)
  return (
    <button type="button" aria-pressed={isWatching} onClick={() => (isWatching ? unwatch(watched) : watch(watched))}>
      {isWatching ? 'Watched' : 'Watch'}
    </button>
  )
}
