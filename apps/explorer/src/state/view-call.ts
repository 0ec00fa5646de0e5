import type { ApiRequest } from '../api/client.ts'
import type { ViewCall } from './route.ts'

const PAGE = 250

/** The body of `/view` and `/view/history`. The arguments are sent as they were written: a number may be larger than JavaScript holds. */
export function callToBody(name: string, { typeArguments, arguments: values }: ViewCall): string {
  return `{"function":${JSON.stringify(name)},"type_arguments":${JSON.stringify(typeArguments)},"arguments":${values}}`
}

/** The changes of what a call answers, the newest first. */
export function viewHistoryRequest(body: string): ApiRequest {
  return { path: `/view/history?limit=${PAGE}`, body }
}
