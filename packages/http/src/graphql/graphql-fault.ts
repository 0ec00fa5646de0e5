/** A fault of a document. The answer has it in `errors`, in the form of an indexer. */
export class GraphqlFault extends Error {
  /** Place of the fault, such as `$.selectionSet.events`. */
  readonly path: string

  constructor(message: string, path = '$') {
    super(message)
    this.path = path
  }
}

/** A fault of a field of the query. */
export function faultOfField(name: string, message: string): GraphqlFault {
  return new GraphqlFault(`field "${name}": ${message}`, `$.selectionSet.${name}`)
}
