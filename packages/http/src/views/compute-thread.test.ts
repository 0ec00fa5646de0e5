import { createHash } from 'node:crypto'
import { threadId } from 'node:worker_threads'
import type { ComputeTask } from '@ledger-state/move-vm'
import { afterEach, describe, expect, it } from 'vitest'
import { type ComputeThread, createComputeThread } from './compute-thread.js'

const text = (value: string) => new TextEncoder().encode(value)
const hashTask = (value: string): ComputeTask => ({ name: 'hash', inputs: [text('sha2_256'), text(value)] })
const digest = (value: string) => createHash('sha256').update(value).digest('hex')

/** A task longer than a turn: hashing to a point of G2. */
const longTask = (): ComputeTask => ({ name: 'algebra_hash_to', inputs: ['bls12381 G2', 'tag', 'message'].map(text) })

describe('createComputeThread', () => {
  let thread: ComputeThread
  afterEach(() => thread.close())

  it('does tasks in their order, whichever they are', async () => {
    thread = createComputeThread()
    const values = Array.from({ length: 20 }, (_, index) => `value ${index}`)
    const results = await Promise.all([thread.run(longTask()), ...values.map((value) => thread.run(hashTask(value)))])
    expect(results[0]![0]!.length).toBe(192)
    expect(results.slice(1).map(([hash]) => Buffer.from(hash!).toString('hex'))).toEqual(values.map(digest))
  })

  it('sends of a view of a larger buffer its own bytes', async () => {
    thread = createComputeThread()
    const whole = text('a text and more')
    const [hash] = await thread.run({ name: 'hash', inputs: [text('sha2_256'), whole.subarray(0, 6)] })
    expect(Buffer.from(hash!).toString('hex')).toBe(digest('a text'))
  })

  it('refuses tasks that no native asks for, and continues', async () => {
    thread = createComputeThread()
    await expect(thread.run({ name: 'format_disk', inputs: [] })).rejects.toThrow(RangeError)
    await expect(thread.run({ name: 'constructor', inputs: [] })).rejects.toThrow(RangeError)
    expect(await thread.run(hashTask('x'))).toHaveLength(1)
  })

  it('does the remaining and all later work itself once it is closed', async () => {
    thread = createComputeThread()
    const left = Array.from({ length: 10 }, (_, index) => thread.run(hashTask(`left ${index}`)))
    await thread.close()
    const results = await Promise.all([...left, thread.run(hashTask('later'))])
    expect(Buffer.from(results.at(-1)![0]!).toString('hex')).toBe(digest('later'))
    expect(results.every(([hash]) => hash!.length === 32)).toBe(true)
  })

  it('does the tasks of a thread that dies in the middle itself', async () => {
    thread = createComputeThread(new URL('data:text/javascript,process.exit()'))
    for (let round = 0; round < 2; round++) {
      const results = await Promise.all(['a', 'b'].map((value) => thread.run(hashTask(value))))
      expect(results.map(([hash]) => Buffer.from(hash!).toString('hex'))).toEqual(['a', 'b'].map(digest))
    }
  })

  it('lets this thread continue meanwhile', async () => {
    thread = createComputeThread()
    let isDone = false
    const running = thread.run(longTask()).then(() => {
      isDone = true
    })
    // The task was sent, and its reply can only come in a later turn of this thread.
    await Promise.resolve()
    expect([isDone, threadId]).toEqual([false, 0])
    await running
  })
})
