// Shared command line and report code for the two TypeScript clients.
//
//   node <client>.mjs --url http://127.0.0.1:8000/mcp [options]
//   node <client>.mjs [options] -- COMMAND ARG...            (stdio)
//
// Options:
//   --call NAME [JSON]   call this tool (repeatable); JSON is the arguments object, left out when not given
//   --era ERA            protocol to speak (each client lists what it accepts)
//   --timeout MS         per-request timeout, default 15000
//   --expect-tool NAME   fail unless tools/list has this tool (repeatable)
//   --log-level LEVEL    ask for log messages: by logging/setLevel, or in each call's _meta on 2026-07-28
//   --capabilities none  declare no client capabilities (default: sampling, elicitation, roots)
//
// Prints ONE JSON object on stdout. Exit 0: everything answered; 1: something failed; 2: usage.

export function parseArgs(argv) {
  const o = { calls: [], expectTools: [], timeout: 15000, era: undefined, url: undefined, command: undefined, bare: false, logLevel: undefined };
  const usage = (why) => { console.error(why); process.exit(2); };
  let i = 0;
  const value = (flag) => { if (i + 1 >= argv.length) usage(`${flag} needs a value`); return argv[++i]; };
  for (; i < argv.length; i++) {
    const a = argv[i];
    if (a === '--') { o.command = argv.slice(i + 1); break; }
    else if (a === '--url') o.url = value(a);
    else if (a === '--era') o.era = value(a);
    else if (a === '--timeout') o.timeout = Number(value(a));
    else if (a === '--expect-tool') o.expectTools.push(value(a));
    else if (a === '--log-level') o.logLevel = value(a);
    else if (a === '--capabilities') o.bare = value(a) === 'none';
    else if (a === '--call') {
      const name = value(a);
      let args;
      if (i + 1 < argv.length && argv[i + 1].startsWith('{')) args = JSON.parse(argv[++i]);
      o.calls.push({ name, args });
    } else usage(`unknown option ${a}`);
  }
  if (!o.url === !(o.command && o.command.length)) usage('give either --url URL or -- COMMAND ARG...');
  return o;
}

// What the client answers when the server asks it something.
export const answers = {
  sampling: { role: 'assistant', content: { type: 'text', text: 'sampled text' }, model: 'test-model', stopReason: 'endTurn' },
  roots: { roots: [{ uri: 'file:///srv/root', name: 'root' }] },
  // Fill every requested form field with a value of its type.
  elicit(params) {
    const content = {};
    for (const [k, s] of Object.entries(params?.requestedSchema?.properties ?? {})) {
      const choices = s.enum ?? s.oneOf?.map((c) => c.const);
      const item = s.items?.enum ?? s.items?.anyOf?.map((c) => c.const);
      content[k] =
        s.default !== undefined ? s.default
        : choices ? choices[0]
        : s.type === 'array' ? (item ? [item[0]] : [])
        : s.type === 'boolean' ? true
        : s.type === 'integer' ? (s.minimum ?? 1)
        : s.type === 'number' ? (s.minimum ?? 1.5)
        : s.format === 'email' ? 'user@example.com'
        : s.format === 'uri' ? 'https://example.com/'
        : s.format === 'date' ? '2026-01-02'
        : s.format === 'date-time' ? '2026-01-02T03:04:05Z'
        : 'x'.repeat(Math.max(1, s.minLength ?? 1));
    }
    return { action: 'accept', content };
  },
};

// Lists, calls, reports. `client` is a connected client with the (same-named) SDK methods.
export async function exercise(client, o, info) {
  const req = { timeout: o.timeout };
  const report = { ...info, tools: [], prompts: null, resources: null, resourceTemplates: null, calls: [] };
  const caps = client.getServerCapabilities() ?? {};
  report.server = client.getServerVersion() ?? null;
  report.capabilities = caps;
  report.instructions = client.getInstructions() ?? null;

  const all = async (method, key) => {
    const out = []; let cursor; let pages = 0;
    do {
      const page = await client[method](cursor === undefined ? undefined : { cursor }, req);
      out.push(...page[key]); cursor = page.nextCursor;
    } while (cursor !== undefined && ++pages < 1000);
    return out;
  };
  if (caps.tools) report.tools = (await all('listTools', 'tools')).map((t) => t.name);
  if (caps.prompts) report.prompts = (await all('listPrompts', 'prompts')).map((p) => p.name);
  if (caps.resources) {
    report.resources = (await all('listResources', 'resources')).map((r) => r.uri);
    report.resourceTemplates = (await all('listResourceTemplates', 'resourceTemplates')).map((r) => r.uriTemplate);
  }
  for (const name of o.expectTools)
    if (!report.tools.includes(name)) throw new Error(`tools/list has no tool ${JSON.stringify(name)}`);

  const modern = info.protocolVersion >= '2026';
  if (o.logLevel && !modern && caps.logging) await client.setLoggingLevel(o.logLevel, req);
  const meta = o.logLevel && modern ? { _meta: { 'io.modelcontextprotocol/logLevel': o.logLevel } } : {};

  for (const { name, args } of o.calls) {
    let progress = 0;
    // SDK 1.x takes (params, resultSchema, options); 2.x takes (params, options).
    const opts = { ...req, onprogress: () => progress++ };
    const result = await (info.client.startsWith('@modelcontextprotocol/sdk')
      ? client.callTool({ name, arguments: args, ...meta }, undefined, opts)
      : client.callTool({ name, arguments: args, ...meta }, opts));
    report.calls.push({ name, isError: result.isError ?? false, content: result.content,
      structuredContent: result.structuredContent, progress });
  }
  return report;
}

export async function main(run) {
  const o = parseArgs(process.argv.slice(2));
  try {
    console.log(JSON.stringify(await run(o)));
    process.exit(0);
  } catch (e) {
    console.error(JSON.stringify({ error: e?.name ?? 'Error', code: e?.code, message: String(e?.message ?? e), data: e?.data }));
    process.exit(1);
  }
}
