import type { PermissionRequest } from '../../harness/contract/drive.ts'
import type { Tell } from './tell.ts'

/** What an agent wants to be allowed, until somebody has decided it. */
export class Questions {
  readonly #tell: Tell
  readonly #stopping: AbortSignal
  readonly #waiting = new Map<string, (isAllowed: boolean) => void>()
  #asked = 0

  constructor(tell: Tell, stopping: AbortSignal) {
    this.#tell = tell
    this.#stopping = stopping
  }

  readonly ask = (permission: PermissionRequest): Promise<boolean> => {
    if (this.#stopping.aborted) return Promise.resolve(false)
    const request = String((this.#asked += 1))
    return new Promise((resolve) => {
      this.#waiting.set(request, resolve)
      this.#tell({ type: 'permission.asked', request, permission })
    })
  }

  /** Whether anything waited under that name. */
  decide(request: string, isAllowed: boolean): boolean {
    const resolve = this.#waiting.get(request)
    if (resolve === undefined) return false
    this.#waiting.delete(request)
    resolve(isAllowed)
    this.#tell({ type: 'permission.settled', request, isAllowed })
    return true
  }

  /** What nobody has allowed until now is refused. */
  refuseAll(): void {
    for (const request of this.#waiting.keys()) this.decide(request, false)
  }
}
