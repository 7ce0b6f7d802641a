// libcurl, loaded when it is first needed. Linked, its libraries would make every command of cairn start 10
// ms later, and most users need none of it.
#pragma once

#include <curl/curl.h>

#include "base/result.h"

namespace cairn::daemon {

struct Curl {
  decltype(&curl_global_init) global_init;
  decltype(&curl_easy_init) easy_init;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&curl_easy_cleanup) easy_cleanup;
  decltype(&curl_easy_strerror) easy_strerror;
  decltype(&curl_multi_init) multi_init;
  decltype(&::curl_multi_setopt) multi_setopt;
  decltype(&curl_multi_cleanup) multi_cleanup;
  decltype(&curl_multi_add_handle) multi_add_handle;
  decltype(&curl_multi_remove_handle) multi_remove_handle;
  decltype(&curl_multi_socket_action) multi_socket_action;
  decltype(&curl_multi_assign) multi_assign;
  decltype(&curl_multi_info_read) multi_info_read;
  decltype(&curl_slist_append) slist_append;
  decltype(&curl_slist_free_all) slist_free_all;

  // The library, loaded once. Fails with `not_found`, and says which package to install.
  static Result<const Curl*> load();
};

}  // namespace cairn::daemon
