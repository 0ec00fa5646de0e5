import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import type { ReadText } from '../state/argument-text.ts'

interface ProblemProps {
  /** The fault of the value of the field; undefined if there is none, or nobody should be told yet. */
  readonly text: string | undefined
  /** Draws the field with attributes that tell assistive programs about the problem. */
  readonly children: (described: {
    readonly 'aria-invalid': boolean
    readonly 'aria-describedby': string | undefined
  }) => ComponentChildren
}

/** A field, with the fault of its value below it. */
export function Problem({ text, children }: ProblemProps) {
  const id = useId()
  return (
    <div class="with-problem">
      {children({ 'aria-invalid': text !== undefined, 'aria-describedby': text === undefined ? undefined : id })}
      <p class="problem" id={id} aria-live="polite">
        <bdi>{text}</bdi>
      </p>
    </div>
  )
}

/**
 * The problem of the text in a field. An empty field is wrong only after the visitor has left it, or tried to send it.
 * @param onJson called with each value as JSON, and with undefined while the text is not a value
 */
export function useProblem(
  read: (text: string) => ReadText,
  isTried: boolean,
  onJson: (json: string | undefined) => void,
) {
  const [text, setText] = useState<string | undefined>(undefined)
  const [isLeft, setLeft] = useState(false)
  useEffect(() => {
    const empty = read('')
    if ('json' in empty) onJson(empty.json)
  }, [])
  const found = read(text ?? '')
  const isTold = isTried || isLeft || (text !== undefined && text !== '')
  return {
    problem: isTold && 'problem' in found ? found.problem : undefined,
    write(next: string): void {
      setText(next)
      const result = read(next)
      onJson('json' in result ? result.json : undefined)
    },
    /** Called when the field loses the focus after something was written. */
    leave(): void {
      if (text !== undefined) setLeft(true)
    },
  }
}
