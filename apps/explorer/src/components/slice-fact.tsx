import type { Slice } from '../api/answers.ts'
import { groupDigits } from '../state/amount.ts'

/** The requested part of a slice. Other accounts and tables join without a request. */
export function SliceFact({ asked }: { readonly asked: NonNullable<Slice['asked']> }) {
  const { accounts, tables, types } = asked
  const parts = [counted(accounts, 'account'), counted(tables, 'table'), counted(types.length, 'type')]
  return (
    <div>
      <dt>Keeps</dt>
      <dd title={types.join(', ')}>a slice: the data of {parts.filter((part) => part !== '').join(', ')}</dd>
    </div>
  )
}

function counted(count: number, name: string): string {
  return count === 0 ? '' : `${groupDigits(String(count))} ${name}${count === 1 ? '' : 's'}`
}
