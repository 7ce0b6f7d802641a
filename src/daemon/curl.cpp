#include "daemon/curl.h"

#include <dlfcn.h>

#include <string>

namespace cairn::daemon {

// Never unloaded: the functions are used until the process ends.
static Result<Curl> load_library() {
  void* library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Error{
        Code::not_found,
        "libcurl is not installed: as root run `apt-get install libcurl4`, then `cairn daemon restart`"};
  Curl curl{};
  bool complete = true;
  const auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    complete = complete && function != nullptr;
  };
  find("curl_global_init", curl.global_init);
  find("curl_easy_init", curl.easy_init);
  find("curl_easy_setopt", curl.easy_setopt);
  find("curl_easy_cleanup", curl.easy_cleanup);
  find("curl_easy_strerror", curl.easy_strerror);
  find("curl_multi_init", curl.multi_init);
  find("curl_multi_setopt", curl.multi_setopt);
  find("curl_multi_cleanup", curl.multi_cleanup);
  find("curl_multi_add_handle", curl.multi_add_handle);
  find("curl_multi_remove_handle", curl.multi_remove_handle);
  find("curl_multi_socket_action", curl.multi_socket_action);
  find("curl_multi_assign", curl.multi_assign);
  find("curl_multi_info_read", curl.multi_info_read);
  find("curl_slist_append", curl.slist_append);
  find("curl_slist_free_all", curl.slist_free_all);
  if (!complete || curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    return Error{Code::unsupported, "the installed libcurl cannot be used"};
  return curl;
}

Result<const Curl*> Curl::load() {
  static const Result<Curl> loaded = load_library();
  if (!loaded) return loaded.error();
  return &*loaded;
}

}  // namespace cairn::daemon
