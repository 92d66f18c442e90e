/** Beside text that was not written on this machine and that the user has not agreed to. */
export const FROM_ELSEWHERE = '(from elsewhere)'

export function markOrigin({ isFromElsewhere }: { readonly isFromElsewhere?: true }): string {
  return isFromElsewhere === true ? `  ${FROM_ELSEWHERE}` : ''
}
