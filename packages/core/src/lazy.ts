/** A value that is loaded when it is asked for first. All who ask share it; after a failure, the next one loads it again. */
export class Lazy<T> {
  readonly #load: () => Promise<T>
  #loading: Promise<T> | undefined

  constructor(load: () => Promise<T>) {
    this.#load = load
  }

  /** Loads the value unless it is loaded. @throws as the load */
  async get(): Promise<T> {
    const loading = this.#loading ?? this.#load()
    this.#loading = loading
    try {
      return await loading
    } catch (error) {
      if (this.#loading === loading) this.#loading = undefined
      throw error
    }
  }

  /** Forgets the value. */
  clear(): void {
    this.#loading = undefined
  }
}
