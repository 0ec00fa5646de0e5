import { useEffect, useRef, useState } from 'preact/hooks'
import { type ApiRequest, askText } from '../api/client.ts'
import type { Failure } from '../api/failure.ts'
import { untilAnswered } from '../state/until-answered.ts'
import { FailureNotice } from './failure-notice.tsx'

const PAGE = 1_000

interface CsvButtonProps {
  readonly path: string
  readonly name: string
  /** The state of a list, or the last state of a history; by default the newest. */
  readonly at?: string | undefined
  /** Whether the path lists the parts of one state, and not a history up to it. */
  readonly isOfState?: boolean
}

/** A button that saves a whole list or history as CSV, page by page. */
export function CsvButton({ path, name, at: asked, isOfState = false }: CsvButtonProps) {
  const [lines, setLines] = useState<number | undefined>(undefined)
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const control = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => control.current?.abort(), [])
  const save = async (signal: AbortSignal): Promise<void> => {
    setFailure(undefined)
    const texts: string[] = []
    let at = asked
    let start: string | undefined
    do {
      setLines(texts.length * PAGE)
      const request: ApiRequest = {
        path: `${path}?limit=${PAGE}${isOfState ? '' : to(at)}${start === undefined ? '' : `&start=${start}`}`,
        ...(isOfState && { at }),
        accept: 'text/csv',
      }
      const page = await untilAnswered(() => askText(request, signal), signal, setFailure)
      if ('failure' in page) {
        setFailure(page.failure)
        break
      }
      setFailure(undefined)
      // All pages are read at one state, and the first has the names of the columns.
      at ??= page.answer.head?.version
      texts.push(texts.length === 0 ? page.value : page.value.slice(page.value.indexOf('\r\n') + 2))
      start = page.answer.cursor
    } while (start !== undefined)
    setLines(undefined)
    if (start === undefined && texts.length > 0) saveText(texts, name)
  }
  const onClick = (): void => {
    control.current = new AbortController()
    save(control.current.signal).catch(() => {})
  }
  return (
    <>
      <button type="button" disabled={lines !== undefined} onClick={onClick}>
        {lines === undefined ? 'Save as CSV' : `${lines} lines…`}
      </button>
      {failure && <FailureNotice failure={failure} />}
    </>
  )
}

const to = (version: string | undefined): string => (version === undefined ? '' : `&to=${encodeURIComponent(version)}`)

function saveText(texts: readonly string[], name: string): void {
  const url = URL.createObjectURL(new Blob([...texts], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
