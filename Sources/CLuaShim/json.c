#include "internal.h"
#include <jansson.h>
void clua_push_json(lua_State *L, json_t *document) { (void)document; lua_pushnil(L); }
void clua_release_json(json_t *document) { json_decref(document); }
