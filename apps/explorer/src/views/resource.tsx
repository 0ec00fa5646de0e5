import type { Resource } from '../api/answers.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import { ForPrograms } from '../components/for-programs.tsx'
import { AddressLink } from '../components/link.tsx'
import { Loading } from '../components/loading.tsx'
import { TypeText } from '../components/type-text.tsx'
import { ValueHistory } from '../components/value-history.tsx'
import { ValueTree } from '../components/value-tree.tsx'
import { ProofNote } from '../proof/proof-note.tsx'
import { route } from '../state/location.ts'
import { useAmounts } from '../state/use-amounts.ts'
import { useAnswer } from '../state/use-answer.ts'

export function ResourceView({ address, type }: { readonly address: string; readonly type: string }) {
  const path = `/accounts/${encodeURIComponent(address)}/resource/${encodeURIComponent(type)}`
  const { at } = route.value
  const answer = useAnswer<Resource>({ path, at })
  const data = answer && 'value' in answer ? answer.value.data : undefined
  const amounts = useAmounts(type, address, data)
  const history = { path: `${path}/history?limit=20` }
  return (
    <>
      <h1>
        <TypeText text={type} />
      </h1>
      <p class="subtitle">
        of <AddressLink address={address} />
      </p>
      <ForPrograms requests={[{ path, at }, history]} />
      {answer === undefined && <Loading />}
      {answer && 'failure' in answer && <FailureNotice failure={answer.failure} />}
      {data !== undefined && <ValueTree value={data} holder={address} amounts={amounts} />}
      <ProofNote question={{ kind: 'resource', address, type }} request={{ path, at }} answer={answer} />
      {answer && <ValueHistory request={history} type={type} holder={address} />}
    </>
  )
}
