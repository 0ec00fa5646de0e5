import type { ApiRequest } from '../api/client.ts'
import type { ViewCall } from './route.ts'

const PAGE = 250

/**
 * Body of `/view` and `/view/history`. Arguments are sent as they were written, because a number may be larger than
 * JavaScript holds.
 */
export function callToBody(name: string, { typeArguments, arguments: values }: ViewCall): string {
  return `{"function":${JSON.stringify(name)},"type_arguments":${JSON.stringify(typeArguments)},"arguments":${values}}`
}

/** Request for the changes of a call's answer, the newest first. */
export function viewHistoryRequest(body: string): ApiRequest {
  return { path: `/view/history?limit=${PAGE}`, body }
}
