import { FailureNotice } from '../components/failure-notice.tsx'
import { ForPrograms } from '../components/for-programs.tsx'
import { AddressLink } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { route } from '../state/location.ts'
import { useAnswer } from '../state/use-answer.ts'

interface AbiFunction {
  readonly name: string
  readonly visibility: string
  readonly is_entry: boolean
  readonly is_view: boolean
  readonly generic_type_params: readonly { readonly constraints: readonly string[] }[]
  readonly params: readonly string[]
  readonly return: readonly string[]
}

interface AbiStruct {
  readonly name: string
  readonly is_native: boolean
  readonly abilities: readonly string[]
  readonly generic_type_params: readonly { readonly constraints: readonly string[] }[]
  readonly fields: readonly { readonly name: string; readonly type: string }[]
}

export interface ModuleAnswer {
  readonly bytecode: string
  readonly abi: {
    readonly address: string
    readonly name: string
    readonly friends: readonly string[]
    readonly exposed_functions: readonly AbiFunction[]
    readonly structs: readonly AbiStruct[]
  } | null
}

export function ModuleView({ address, module }: { readonly address: string; readonly module: string }) {
  const request = { path: `/accounts/${address}/module/${encodeURIComponent(module)}`, at: route.value.at }
  const answer = useAnswer<ModuleAnswer>(request)
  return (
    <>
      <h1>
        Module <bdi>{module}</bdi>
      </h1>
      <p class="subtitle">
        of <AddressLink address={address} />
      </p>
      {answer === undefined && <Loading />}
      {answer && 'failure' in answer && <FailureNotice failure={answer.failure} />}
      {answer && 'value' in answer && <Abi answer={answer.value} />}
      <ForPrograms requests={[request]} />
    </>
  )
}

function Abi({ answer: { abi, bytecode } }: { readonly answer: ModuleAnswer }) {
  if (!abi) return <p class="empty">Its bytes are no module that this node can read.</p>
  return (
    <>
      <p>{(bytecode.length - 2) / 2} bytes of code</p>
      <h2>Types</h2>
      {abi.structs.length === 0 && <p class="empty">None.</p>}
      {abi.structs.map((struct) => (
        <details key={struct.name} class="card">
          <summary>
            <code>
              struct {struct.name}
              {typeParameters(struct.generic_type_params)}
            </code>{' '}
            <small>{struct.abilities.join(', ')}</small>
          </summary>
          <dl class="members">
            {struct.fields.map(({ name, type }) => (
              <div key={name} class="member">
                <dt>{name}</dt>
                <dd>
                  <bdi class="type">{type}</bdi>
                </dd>
              </div>
            ))}
          </dl>
        </details>
      ))}
      <h2>Functions</h2>
      {abi.exposed_functions.length === 0 && <p class="empty">None that others can call.</p>}
      <ul class="functions">
        {abi.exposed_functions.map((one) => (
          <li key={one.name}>
            <code>{signatureOf(one)}</code>
          </li>
        ))}
      </ul>
    </>
  )
}

function typeParameters(parameters: readonly { readonly constraints: readonly string[] }[]): string {
  if (parameters.length === 0) return ''
  const texts = parameters.map(
    ({ constraints }, at) => `T${at}${constraints.length > 0 ? `: ${constraints.join(' + ')}` : ''}`,
  )
  return `<${texts.join(', ')}>`
}

function signatureOf(one: AbiFunction): string {
  const words = [one.is_view && '#[view]', one.visibility, one.is_entry && 'entry', 'fun'].filter(Boolean).join(' ')
  const results =
    one.return.length === 0 ? '' : `: ${one.return.length === 1 ? one.return[0] : `(${one.return.join(', ')})`}`
  return `${words} ${one.name}${typeParameters(one.generic_type_params)}(${one.params.join(', ')})${results}`
}
