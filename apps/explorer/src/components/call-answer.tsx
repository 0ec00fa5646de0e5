import type { ComponentChildren } from 'preact'
import type { Result } from '../api/client.ts'
import { route } from '../state/location.ts'
import { parseMoveType, withArguments } from '../state/move-type.ts'
import type { ViewCall } from '../state/route.ts'
import { useAnswer } from '../state/use-answer.ts'
import { callToBody } from '../state/view-call.ts'
import { FailureNotice } from './failure-notice.tsx'
import { FirstItems } from './first-items.tsx'
import { Loading } from './loading.tsx'
import { TypeText } from './type-text.tsx'
import { ValueTree } from './value-tree.tsx'

interface CallAnswerProps {
  readonly name: string
  readonly call: ViewCall
  /** Types of the results, as the module writes them, if they are known. */
  readonly results: readonly string[]
  /** Draws the part below the answer, once there is one, so that it stays where it is. */
  readonly children?: (answer: Result<readonly unknown[]>) => ComponentChildren
}

const FIRST_RESULTS = 50

/** The answer of a view function at the version of the page. */
export function CallAnswer({ name, call, results, children }: CallAnswerProps) {
  const answer = useAnswer<readonly unknown[]>({ path: '/view', at: route.value.at, body: callToBody(name, call) })
  const given = call.typeArguments.map(parseMoveType)
  if (answer === undefined) return <Loading />
  if ('failure' in answer) {
    return (
      <>
        <FailureNotice failure={answer.failure} />
        {children?.(answer)}
      </>
    )
  }
  return (
    <>
      <FirstItems items={answer.value} step={FIRST_RESULTS} what="results">
        {(shown) => (
          <dl class="members">
            {shown.map((value, at) => (
              <div key={at} class="member">
                <dt>
                  {results[at] === undefined ? `result ${at}` : <TypeText text={withArguments(results[at], given)} />}
                </dt>
                <dd>
                  <ValueTree value={value} />
                </dd>
              </div>
            ))}
          </dl>
        )}
      </FirstItems>
      {children?.(answer)}
    </>
  )
}
