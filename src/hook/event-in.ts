/** The name of an event, told without reading all of it. */
export function eventIn(input: string): string {
  return /"hook_event_name"\s*:\s*"(\w+)"/.exec(input)?.[1] ?? ''
}
