import { useEffect, useState } from 'preact/hooks'
import type { TypeUse } from '../api/answers.ts'
import { groupDigits } from '../state/amount.ts'
import { route } from '../state/location.ts'
import { type TypeSearchState, typeUsesRequest, useTypeSearch } from '../state/use-type-search.ts'
import { FailureNotice } from './failure-notice.tsx'
import { ForPrograms } from './for-programs.tsx'
import { AddressLink, Link } from './link.tsx'
import { LongList } from './long-list.tsx'

const ROW_HEIGHT = 41
/** Longest shown line. The module's own view has all of its declarations. */
const MOST_CHARACTERS = 300

/** Uses of a type in all accounts. There is no index of them, so the state is searched when the visitor asks for it. */
export function TypeSearch({ type }: { readonly type: string }) {
  const { at } = route.value
  const [isAsked, setAsked] = useState(false)
  if (isAsked) return <SearchedUses key={`${at} ${type}`} type={type} at={at} />
  return (
    <p>
      <button type="button" onClick={() => setAsked(true)}>
        Search all accounts for uses
      </button>
    </p>
  )
}

function SearchedUses({ type, at }: { readonly type: string; readonly at: string | undefined }) {
  const search = useTypeSearch(type, at)
  const { uses, keys, isRunning, isEnded, failure } = search
  useEffect(search.start, [])
  return (
    <section class="type-search" aria-label={`Uses of ${type} in all accounts`}>
      <h3>In all accounts</h3>
      <p class="hint">
        Resources of it or with it as a type argument, and modules that name it in fields, parameters or results. There
        is no index of them: the search reads all accounts, in the order of their addresses.
      </p>
      <div class="inline">
        {!isEnded && (
          <button type="button" onClick={isRunning ? search.stop : search.start}>
            {isRunning ? 'Stop' : 'Continue'}
          </button>
        )}
        {keys > 0 && <progress aria-label="Part of all addresses" value={search.part} />}
        <span class="label" role="status">
          <SearchStatus search={search} />
        </span>
      </div>
      {failure && <FailureNotice failure={failure} />}
      {uses.length > 0 && (
        <LongList
          label={`Uses of ${type}`}
          class="lines"
          isBoxed
          count={uses.length}
          rowHeight={ROW_HEIGHT}
          row={(index) => <UseLine use={uses[index]!} />}
        />
      )}
      <ForPrograms requests={[typeUsesRequest(type, at)]} />
    </section>
  )
}

function SearchStatus({ search: { uses, keys, isRunning, isEnded, part } }: { readonly search: TypeSearchState }) {
  if (keys === 0) return <>{isRunning ? 'Searching…' : ''}</>
  const found = `${groupDigits(String(uses.length))} ${uses.length === 1 ? 'use' : 'uses'}`
  const seen = `${groupDigits(String(keys))} keys seen`
  return <>{isEnded ? `${found}; all ${seen}` : `${found}; ${seen}, ${(100 * part).toFixed(1)} % of all addresses`}</>
}

function UseLine({ use: { address, resource, module, declarations = [] } }: { readonly use: TypeUse }) {
  return (
    <span class="use">
      <AddressLink address={address} />
      {resource !== undefined && (
        <Link view={{ name: 'resource', address, type: resource }}>
          <bdi class="type">{cut(resource)}</bdi>
        </Link>
      )}
      {module !== undefined && (
        <span>
          <Link view={{ name: 'module', address, module }}>
            module <bdi>{module}</bdi>
          </Link>{' '}
          <small>
            <bdi>{cut(declarations.join(', '))}</bdi>
          </small>
        </span>
      )}
    </span>
  )
}

function cut(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)}…`
}
