import { type ComponentChildren, type ComponentType, Fragment } from 'preact'
import { useState } from 'preact/hooks'
import type { ModuleAnswer } from '../api/answers.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import { FirstItems } from '../components/first-items.tsx'
import { ForPrograms } from '../components/for-programs.tsx'
import { AddressLink, Link } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { cutText } from '../components/long-text.tsx'
import { TypeSearch } from '../components/type-search.tsx'
import { TypeText } from '../components/type-text.tsx'
import type { Disassembly, FieldText, FunctionDeclaration, TypeDeclaration } from '../move/disassemble.ts'
import { useDisassembly } from '../move/use-disassembly.ts'
import { ProofNote } from '../proof/proof-note.tsx'
import { groupDigits } from '../state/amount.ts'
import { route } from '../state/location.ts'
import { useAnswer } from '../state/use-answer.ts'
import { TypeUses, useDeclarations } from './type-uses.tsx'

/** Functions, types or friends that are shown at first. A module of the framework has 158 functions at most. */
const FIRST_ITEMS = 200
const FIRST_VARIANTS = 50
const FIRST_FIELDS = 100

export function ModuleView({ address, module }: { readonly address: string; readonly module: string }) {
  const request = {
    path: `/accounts/${encodeURIComponent(address)}/module/${encodeURIComponent(module)}`,
    at: route.value.at,
  }
  const answer = useAnswer<ModuleAnswer>(request)
  const disassembly = useDisassembly(answer && 'value' in answer ? answer.value.bytecode : undefined)
  return (
    <>
      <h1>
        Module <bdi>{module}</bdi>
      </h1>
      <p class="subtitle">
        of <AddressLink address={address} />
      </p>
      <ForPrograms requests={[request]} />
      {(answer === undefined || ('value' in answer && disassembly === undefined)) && <Loading />}
      {answer && 'failure' in answer && <FailureNotice failure={answer.failure} />}
      <ProofNote question={{ kind: 'module', address, name: module }} request={request} answer={answer} />
      {disassembly && 'failure' in disassembly && <FailureNotice failure={disassembly.failure} />}
      {answer && 'value' in answer && disassembly && !('failure' in disassembly) && (
        <Declarations answer={answer.value} address={address} module={module} disassembly={disassembly} />
      )}
    </>
  )
}

interface DeclarationsProps {
  readonly answer: ModuleAnswer
  readonly address: string
  readonly module: string
  readonly disassembly: Disassembly
}

function Declarations({ answer: { abi, bytecode }, address, module, disassembly }: DeclarationsProps) {
  const declarations = useDeclarations(abi?.address)
  const [filter, setFilter] = useState('')
  const isShown = ({ name }: { readonly name: string }) => name.toLowerCase().includes(filter.toLowerCase())
  const { types, functions, friends, formatVersion } = disassembly
  const isForOthers = ({ visibility, isEntry }: FunctionDeclaration) => visibility !== 'private' || isEntry
  const ofOthers = functions.filter(isForOthers)
  const ofItsOwn = functions.filter((one) => !isForOthers(one))
  return (
    <>
      <p class="subtitle">
        {groupDigits(String((bytecode.length - 2) / 2))} bytes, format {formatVersion}
        {friends.length > 0 && (
          <>
            ; friends:{' '}
            <FirstItems items={friends} step={FIRST_ITEMS} what="friends">
              {(shown) => <Friends names={shown} />}
            </FirstItems>
          </>
        )}
      </p>
      {types.length + functions.length > 10 && (
        <input
          type="text"
          class="filter"
          aria-label="Filter by name"
          placeholder="Filter by name"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      )}
      <Opened
        title="Source and package"
        of={{ address, module }}
        load={() => import('./module-source.tsx').then(({ ModuleSource }) => ModuleSource)}
      />
      <Opened
        title="Compare with another version"
        of={{ address, module }}
        load={() => import('./module-difference.tsx').then(({ ModuleDifference }) => ModuleDifference)}
      />
      <h2>Types</h2>
      {types.length === 0 && <p class="empty">None.</p>}
      <FirstItems items={types.filter(isShown)} step={FIRST_ITEMS} what="types">
        {(shown) =>
          shown.map((type) => (
            <TypeCard key={type.name} type={type} isOpenAtFirst={types.length <= 3}>
              {abi && (
                <>
                  <TypeUses type={`${abi.address}::${module}::${type.name}`} declarations={declarations} />
                  <TypeSearch type={`${abi.address}::${module}::${type.name}`} />
                </>
              )}
            </TypeCard>
          ))
        }
      </FirstItems>
      <h2>Functions</h2>
      {ofOthers.length === 0 && <p class="empty">None that others can call.</p>}
      <FunctionList of={`${address}::${module}`} functions={ofOthers.filter(isShown)} />
      {ofItsOwn.length > 0 && (
        <>
          <h2>Private functions</h2>
          <FunctionList of={`${address}::${module}`} functions={ofItsOwn.filter(isShown)} />
        </>
      )}
    </>
  )
}

interface ModulePart {
  readonly address: string
  readonly module: string
  readonly at: string | undefined
}

interface OpenedProps {
  readonly title: string
  readonly of: Omit<ModulePart, 'at'>
  readonly load: () => Promise<ComponentType<ModulePart>>
}

/** A part of the view that is loaded when the visitor opens it. */
function Opened({ title, of, load }: OpenedProps) {
  const [Part, setPart] = useState<ComponentType<ModulePart> | undefined>(undefined)
  const [isOpen, setOpen] = useState(false)
  const onToggle = (event: { readonly currentTarget: HTMLDetailsElement }): void => {
    const { open } = event.currentTarget
    setOpen(open)
    // The component is wrapped, because a state setter would call a function that it is given.
    if (open && !Part)
      load().then(
        (part) => setPart(() => part),
        () => {},
      )
  }
  return (
    <details class="card" onToggle={onToggle}>
      <summary>{title}</summary>
      {isOpen && (Part ? <Part {...of} at={route.value.at} /> : <Loading />)}
    </details>
  )
}

/** Friends of the module, such as `0x1::coin`. */
function Friends({ names }: { readonly names: readonly string[] }) {
  return names.map((name, at) => {
    const [address = '', module = ''] = name.split('::')
    return (
      <Fragment key={name}>
        {at > 0 && ', '}
        <Link view={{ name: 'module', address, module }}>
          <bdi class="type">{name}</bdi>
        </Link>
      </Fragment>
    )
  })
}

interface TypeCardProps {
  readonly type: TypeDeclaration
  readonly isOpenAtFirst: boolean
  readonly children: ComponentChildren
}

function TypeCard({ type, isOpenAtFirst, children }: TypeCardProps) {
  const { kind, name, parameters, abilities, isEvent, group, variants } = type
  return (
    <details class="card" open={isOpenAtFirst}>
      <summary>
        <code>
          <span class="keyword">{kind === 'native' ? 'native struct' : kind}</span> {cutText(name)}
          {cutText(parameters)}
        </code>{' '}
        <small>{[isEvent && 'event', ...abilities].filter(Boolean).join(', ')}</small>
      </summary>
      {group !== undefined && (
        <p class="hint">
          stored in the group <TypeText text={group} />
        </p>
      )}
      <FirstItems items={variants} step={FIRST_VARIANTS} what="variants">
        {(shown) =>
          shown.map((variant) =>
            variant.name === undefined ? (
              <Fields key="" fields={variant.fields} />
            ) : (
              <div key={variant.name} class="variant">
                <code>{cutText(variant.name)}</code>
                {variant.fields.length > 0 && <Fields fields={variant.fields} />}
              </div>
            ),
          )
        }
      </FirstItems>
      {children}
    </details>
  )
}

function Fields({ fields }: { readonly fields: readonly FieldText[] }) {
  return (
    <FirstItems items={fields} step={FIRST_FIELDS} what="fields">
      {(shown) => (
        <dl class="members">
          {shown.map(({ name, type }) => (
            <div key={name} class="member">
              <dt>{cutText(name)}</dt>
              <dd>
                <TypeText text={type} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </FirstItems>
  )
}

interface FunctionListProps {
  /** Module such as `0x1::coin`. */
  readonly of: string
  readonly functions: readonly FunctionDeclaration[]
}

function FunctionList({ of, functions }: FunctionListProps) {
  return (
    <FirstItems items={functions} step={FIRST_ITEMS} what="functions">
      {(shown) => (
        <ul class="functions">
          {shown.map(({ name, isView, signature }) => (
            <li key={name}>
              <TypeText text={signature} />{' '}
              {isView && (
                <Link view={{ name: 'view', function: `${of}::${name}` }} title={`call ${name}`}>
                  <small class="mark">call this view</small>
                </Link>
              )}
            </li>
          ))}
        </ul>
      )}
    </FirstItems>
  )
}
