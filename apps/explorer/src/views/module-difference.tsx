import { diffLines } from 'diff'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ModuleAnswer } from '../api/answers.ts'
import { ask } from '../api/client.ts'
import type { Failure } from '../api/failure.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import { declarationLines } from '../move/declaration-lines.ts'
import { disassemble } from '../move/disassemble.ts'
import { loadPackage, unpackSource } from '../move/package-registry.ts'
import { textToMoment } from '../state/moment.ts'
import { untilAnswered } from '../state/until-answered.ts'

interface ModuleDifferenceProps {
  readonly address: string
  readonly module: string
  readonly at: string | undefined
}

/** Texts of a module at one state. */
interface ModuleTexts {
  readonly bytecode: string
  readonly declarations: string
  readonly source: string | undefined
}

interface Compared {
  readonly other: string
  readonly before: ModuleTexts
  readonly after: ModuleTexts
}

/** Lines around a change that are shown with it. */
const CONTEXT_LINES = 3
/** Most changed lines. Comparing more would take seconds, so the texts are then only called different. */
const MOST_EDITS = 5_000
/** Longest time for which two texts are compared, in milliseconds. */
const LONGEST_COMPARISON_MS = 2_000
/** Most characters of a text that is compared. The framework's longest source has 250 kB. */
const MOST_CHARACTERS = 1_000_000
/** Most characters of a part that are shown. */
const MOST_SHOWN = 20_000

/** Compares a module at two versions or times: its declarations and, if both have one, its source. */
export function ModuleDifference({ address, module, at }: ModuleDifferenceProps) {
  const [text, setText] = useState('')
  const [result, setResult] = useState<Compared | { readonly failure: Failure } | undefined>(undefined)
  const moment = textToMoment(text)
  const control = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => control.current?.abort(), [])
  const compare = async (): Promise<void> => {
    if (!moment || !('at' in moment)) return
    control.current?.abort()
    control.current = new AbortController()
    const { signal } = control.current
    const load = (at: string | undefined) =>
      untilAnswered(
        () => loadTexts(address, module, at, signal),
        signal,
        (failure) => setResult({ failure }),
      )
    const [before, after] = await Promise.all([load(moment.at), load(at)])
    if ('failure' in before) setResult({ failure: before.failure })
    else if ('failure' in after) setResult({ failure: after.failure })
    else setResult({ other: moment.at, before, after })
  }
  return (
    <>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault()
          compare().catch(() => {})
        }}
      >
        <input
          type="text"
          aria-label="Version or time to compare with"
          placeholder="version or time to compare with"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" disabled={!moment || !('at' in moment)}>
          Compare
        </button>
      </form>
      {result && 'failure' in result && <FailureNotice failure={result.failure} />}
      {result && 'other' in result && <Comparison compared={result} />}
    </>
  )
}

async function loadTexts(
  address: string,
  module: string,
  at: string | undefined,
  signal: AbortSignal,
): Promise<ModuleTexts | { readonly failure: Failure }> {
  const path = `/accounts/${encodeURIComponent(address)}/module/${encodeURIComponent(module)}`
  const [answer, found] = await Promise.all([
    ask<ModuleAnswer>({ path, at }, signal),
    loadPackage(address, module, at, signal),
  ])
  if ('failure' in answer) return answer
  if (found && 'failure' in found && found.failure.retryAfterMs !== undefined) return found
  const { bytecode } = answer.value
  const packed = found && 'value' in found ? found.value.packedSource : undefined
  const source = packed === undefined ? undefined : await unpackSource(packed)
  try {
    const declarations = declarationLines(disassemble(bytecode))
    return { bytecode, declarations, source: source && 'text' in source ? source.text : undefined }
  } catch {
    return { failure: { kind: 'failed', message: 'its bytes are not a module that this page can read' } }
  }
}

function Comparison({ compared: { other, before, after } }: { readonly compared: Compared }) {
  if (before.bytecode === after.bytecode) return <p role="status">The same bytecode at {other}.</p>
  return (
    <div role="status">
      <h3>Declarations</h3>
      <Difference before={before.declarations} after={after.declarations} />
      <h3>Source</h3>
      {before.source === undefined || after.source === undefined ? (
        <p class="hint">Not both were published with their source.</p>
      ) : (
        <Difference before={before.source} after={after.source} />
      )}
    </div>
  )
}

function Difference({ before, after }: { readonly before: string; readonly after: string }) {
  if (before === after) return <p class="hint">The same.</p>
  const isLong = before.length > MOST_CHARACTERS || after.length > MOST_CHARACTERS
  if (isLong) return <p class="hint">They differ, and are too long to be compared line by line.</p>
  const parts = diffLines(before, after, { maxEditLength: MOST_EDITS, timeout: LONGEST_COMPARISON_MS })
  if (!parts) return <p class="hint">Nearly every line differs.</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls can be reached by the keyboard
    <pre class="source" tabIndex={0}>
      {parts.map(({ added, removed, value }, at) => {
        const key = `${at}`
        if (added) return <ins key={key}>{prefixed('+', cut(value))}</ins>
        if (removed) return <del key={key}>{prefixed('-', cut(value))}</del>
        return <span key={key}>{prefixed(' ', cut(shortened(value, at > 0, at < parts.length - 1)))}</span>
      })}
    </pre>
  )
}

/** The lines of an unchanged part that are next to a change. */
function shortened(text: string, followsChange: boolean, precedesChange: boolean): string {
  const lines = text.split('\n').slice(0, -1)
  const first = followsChange ? CONTEXT_LINES : 0
  const last = precedesChange ? CONTEXT_LINES : 0
  if (lines.length <= first + last + 1) return text
  return [...lines.slice(0, first), '…', ...lines.slice(lines.length - last), ''].join('\n')
}

function cut(text: string): string {
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…\n` : text
}

function prefixed(sign: string, text: string): string {
  return text.replaceAll(/^(?=[\s\S])/gm, `${sign} `)
}
