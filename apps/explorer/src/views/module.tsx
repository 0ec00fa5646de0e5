import type { AbiFunction, ModuleAnswer } from '../api/module.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import { ForPrograms } from '../components/for-programs.tsx'
import { AddressLink } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { groupDigits } from '../state/amount.ts'
import { route } from '../state/location.ts'
import { useAnswer } from '../state/use-answer.ts'
import { TypeUses, useTypeUses } from './type-uses.tsx'

export function ModuleView({ address, module }: { readonly address: string; readonly module: string }) {
  const request = {
    path: `/accounts/${encodeURIComponent(address)}/module/${encodeURIComponent(module)}`,
    at: route.value.at,
  }
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
  const uses = useTypeUses(abi?.address)
  if (!abi) return <p class="empty">Its bytes are no module that this node can read.</p>
  return (
    <>
      <p class="subtitle">
        {groupDigits(String((bytecode.length - 2) / 2))} bytes of code
        {abi.friends.length > 0 && `; friends: ${abi.friends.join(', ')}`}
      </p>
      <h2>Types</h2>
      {abi.structs.length === 0 && <p class="empty">None.</p>}
      {abi.structs.map((struct) => (
        <details key={struct.name} class="card">
          <summary>
            <code>
              {struct.is_enum ? 'enum' : 'struct'} {struct.name}
              {typeParameters(struct.generic_type_params)}
            </code>{' '}
            <small>{[struct.is_event && 'event', ...struct.abilities].filter(Boolean).join(', ')}</small>
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
          <TypeUses type={`${abi.address}::${abi.name}::${struct.name}`} uses={uses} />
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
