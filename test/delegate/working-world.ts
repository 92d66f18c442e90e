// Delegates with a scripted agent: real processes and real git, no model.
import { onTestFinished } from 'vitest'
import { createDelegate } from '../../src/run/delegate/create-delegate.ts'
import type { DelegateRequest } from '../../src/run/delegate/delegate-row.ts'
import { type DelegateState, readDelegate } from '../../src/run/delegate/delegates.ts'
import { startDelegate } from '../../src/run/delegate/start-delegate.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import { RunWorld, type Script } from '../run/run-world.ts'

export class WorkingWorld extends RunWorld {
  workspace(env: NodeJS.ProcessEnv = process.env): Workspace {
    const workspace = new Workspace(this.project.root, {
      say: (line) => this.project.messages.push(line),
      env,
    })
    onTestFinished(() => workspace.close())
    return workspace
  }

  /** Created but not started. */
  async made(
    request: Partial<DelegateRequest> & { readonly script?: string } = {},
  ): Promise<DelegateState> {
    return createDelegate(this.workspace(), {
      what: 'write the parser',
      harness: 'rehearsal',
      ...request,
    })
  }

  /** Runs it in this process until it is ready or failed. */
  async worked({ id }: Pick<DelegateState, 'id'>): Promise<DelegateState> {
    const handle = await startDelegate(this.workspace(), id, {}, (event) => this.events.push(event))
    await handle.ended
    return this.now(id)
  }

  async delegate(script: Script, request: Partial<DelegateRequest> = {}): Promise<DelegateState> {
    return this.worked(await this.made({ ...request, script: this.script(script) }))
  }

  now(id: string): DelegateState {
    return readDelegate(this.workspace().paths, id)
  }
}
