import { findDifferences, MOST_DIFFERENCES } from '../state/differences.ts'

const SHORT_TEXT = 200
const FIRST_DIFFERENCES = 100

/** What differs between two states of a value, leaf by leaf. */
export function Differences({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  const all = findDifferences(before, after)
  if (all.length === 0) return <p class="hint">The same value.</p>
  return (
    <table class="differences">
      <tbody>
        {all.slice(0, FIRST_DIFFERENCES).map(({ path, before: old, after: young }) => (
          <tr key={path}>
            <th scope="row">
              <bdi>{path === '' ? 'value' : cut(path)}</bdi>
            </th>
            <td>
              {old !== undefined && (
                <del>
                  <bdi>{cut(old)}</bdi>
                </del>
              )}{' '}
              {old !== undefined && young !== undefined && '→ '}
              {young !== undefined && (
                <ins>
                  <bdi>{cut(young)}</bdi>
                </ins>
              )}
            </td>
          </tr>
        ))}
        {all.length > FIRST_DIFFERENCES && (
          <tr>
            <td colSpan={2}>and {all.length < MOST_DIFFERENCES ? all.length - FIRST_DIFFERENCES : 'many'} more</td>
          </tr>
        )}
      </tbody>
    </table>
  )
}

function cut(text: string): string {
  return text.length <= SHORT_TEXT ? text : `${text.slice(0, SHORT_TEXT)}… (${text.length} characters)`
}
