/** The server has answered, but not with what was asked for. */
export class AnswerError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

type Query = Readonly<Record<string, string | number | undefined>>;

/** `path?name=value`; what is undefined is left out. */
export function withQuery(path: string, query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  return search.size > 0 ? `${path}?${search}` : path;
}

/** @throws Error that says what went wrong, as the server or we say it. */
export async function get<T>(path: string, query: Query = {}): Promise<T> {
  return send<T>(withQuery(path, query), {});
}

/** @throws Error that says what went wrong, as the server or we say it. */
export async function post<T>(path: string, body: object = {}): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  return send<T>(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function send<T>(path: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, { ...init, signal: AbortSignal.timeout(15_000) });
  } catch {
    throw new Error('The dashboard does not answer. Is lycosa fleet ui still running?');
  }
  if (response.status === 401) location.href = 'login';
  const answer = (await response.json().catch(() => ({}))) as T & { readonly error?: string };
  if (response.ok) return answer;
  throw new AnswerError(
    response.status,
    answer.error ?? `The dashboard answered ${response.status}.`,
  );
}
