export const stage: string
export const project: string
export const home: string
export const state: string
export const program: string
export const hookProgram: string
export function lockStage(): Promise<() => void>
export function buildStage(): void
export function restoreProject(): void
export function environment(at: number): NodeJS.ProcessEnv
export function stampFiles(since: number, shift: number): void
