import { Component, type ComponentChildren } from 'preact'
import { asFailure } from '../data/failure.ts'
import { Failure } from './states.tsx'

/** A view that breaks takes nothing else with it. */
export class ErrorBoundary extends Component<{ children: ComponentChildren }, { error?: unknown }> {
  override state: { error?: unknown } = {}

  override componentDidCatch(error: unknown): void {
    console.error(error)
    this.setState({ error })
  }

  override render() {
    if (this.state.error === undefined) return this.props.children
    return (
      <Failure
        failure={asFailure(this.state.error)}
        retry={() => this.setState({ error: undefined })}
      />
    )
  }
}
